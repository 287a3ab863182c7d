"""Keeps a controller up when a single decision fails for a reason that nobody has thought of.

A decision changes nothing, so whatever it raises can be logged, and answered like any refusal where somebody asked. A
task of the controller's own that fails is tried again when it is due the next time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from barnabas.controller.decision import CommittedView, Decision, Operation, Query, RequestContext, Situation
from barnabas.controller.tasks import Outcome, PeriodicTask
from barnabas.protocol.errors import ApiError, UnknownServerError
from barnabas.protocol.schema import Message

LOG: Final = logging.getLogger(__name__)


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


def guarded_tasks(tasks: Sequence[PeriodicTask]) -> tuple[PeriodicTask, ...]:
    return tuple(_guarded_task(task) for task in tasks)


def _guarded_task(task: PeriodicTask) -> PeriodicTask:
    def decide(situation: Situation) -> Outcome:
        try:
            return task.decide(situation)
        except Exception as error:
            LOG.error("task failed", exc_info=error, extra={"task": task.name})
            return Outcome(Decision())

    return task._replace(decide=decide)


def _unknown(request: Message, context: RequestContext, error: Exception) -> UnknownServerError:
    circumstances = {"request": type(request).__name__, "version": context.version, "listener": context.listener}
    LOG.error("decision failed", exc_info=error, extra=circumstances)
    return UnknownServerError(f"the controller failed to decide on this: {type(error).__name__}")
