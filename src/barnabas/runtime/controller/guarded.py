"""Keeps a controller up when the decision on a single request fails for a reason that nobody has thought of.

A decision changes nothing, so whatever it raises can be answered and logged like any refusal.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from barnabas.controller.decision import CommittedView, Decision, Operation, Query, RequestContext, Situation
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.schema import Message

LOG: Final = logging.getLogger(__name__)


class UnknownServerError(ApiError):
    code = ErrorCode.UNKNOWN_SERVER_ERROR


def guarded_operations(operations: Mapping[type[Message], Operation]) -> dict[type[Message], Operation]:
    return {request: _guarded_operation(operation) for request, operation in operations.items()}


def guarded_queries(queries: Mapping[type[Message], Query]) -> dict[type[Message], Query]:
    return {request: _guarded_query(query) for request, query in queries.items()}


def _guarded_operation(operation: Operation) -> Operation:
    def decide(situation: Situation, request: Any, context: RequestContext) -> Decision:
        try:
            return operation.decide(situation, request, context)
        except ApiError:
            raise
        except Exception as error:
            raise _unknown(request, context, error) from error

    return replace(operation, decide=decide)


def _guarded_query(query: Query) -> Query:
    def answer(view: CommittedView, request: Any, context: RequestContext) -> Message:
        try:
            return query.answer(view, request, context)
        except ApiError:
            raise
        except Exception as error:
            raise _unknown(request, context, error) from error

    return replace(query, answer=answer)


def _unknown(request: Message, context: RequestContext, error: Exception) -> UnknownServerError:
    circumstances = {"request": type(request).__name__, "version": context.version, "listener": context.listener}
    LOG.error("decision failed", exc_info=error, extra=circumstances)
    return UnknownServerError(f"the controller failed to decide on this: {type(error).__name__}")
