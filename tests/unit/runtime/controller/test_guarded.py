"""A decision that fails for no reason that was thought of costs its request, or a turn of its task, and no more."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from barnabas.controller.decision import Decision, Operation, Query, RequestContext, Situation
from barnabas.controller.errors import NotController
from barnabas.controller.tasks import Outcome, PeriodicTask
from barnabas.protocol.errors import ApiError, UnknownServerError
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest
from barnabas.protocol.schema import Message
from barnabas.runtime.controller.guarded import (
    guarded_operations,
    guarded_queries,
    guarded_tasks,
)
from unit.controller.controlled_cluster import ControlledCluster

REQUEST = DescribeClusterRequest(include_cluster_authorized_operations=False)
CONTEXT = RequestContext(version=1)


def refuse(_request: Any, _error: ApiError, _version: int) -> Message:
    raise AssertionError("refusing is the controller's business")


@pytest.mark.parametrize("failure", [KeyError("x"), AssertionError("y"), ZeroDivisionError()])
def test_a_failure_is_logged_and_becomes_an_error_that_can_be_answered(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_view: Any, _request: Any, _context: RequestContext) -> Any:
        raise failure

    operation = guarded_operations({DescribeClusterRequest: Operation(fail, refuse)})[DescribeClusterRequest]
    query = guarded_queries({DescribeClusterRequest: Query(fail, refuse)})[DescribeClusterRequest]
    nothing: Any = None
    with caplog.at_level(logging.ERROR):
        for decide in (operation.decide, query.answer):
            with pytest.raises(UnknownServerError, match=type(failure).__name__):
                decide(nothing, REQUEST, CONTEXT)
    assert [record.message for record in caplog.records] == ["decision failed"] * 2


def test_refusals_and_decisions_go_through() -> None:
    decision = Decision()
    nothing: Any = None

    def decide(_situation: Any, request: Any, _context: RequestContext) -> Decision:
        if request is None:
            raise NotController("elsewhere")
        return decision

    operation = guarded_operations({DescribeClusterRequest: Operation(decide, refuse)})[DescribeClusterRequest]
    assert operation.decide(nothing, REQUEST, CONTEXT) is decision
    with pytest.raises(NotController):
        operation.decide(nothing, None, CONTEXT)


def test_a_task_that_fails_is_logged_and_tried_again_when_it_is_due_the_next_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    runs: list[int] = []

    def fail(situation: Situation) -> Outcome:
        runs.append(situation.now_ms)
        raise ZeroDivisionError

    other_runs: list[int] = []

    def go_on(situation: Situation) -> Outcome:
        other_runs.append(situation.now_ms)
        return Outcome(Decision())

    tasks = (PeriodicTask("failing", lambda _: 1_000, fail), PeriodicTask("other", lambda _: 1_500, go_on))
    cluster = ControlledCluster(tasks=guarded_tasks(tasks))
    start_ms = cluster.now_ms
    with caplog.at_level(logging.ERROR):
        cluster.advance(3_000)
    assert [at_ms - start_ms for at_ms in runs] == [1_000, 2_000, 3_000]
    assert [at_ms - start_ms for at_ms in other_runs] == [1_500, 3_000]
    assert cluster.controller.active_epoch is not None
    assert [vars(record)["task"] for record in caplog.records] == ["failing"] * 3
