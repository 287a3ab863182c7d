"""The controller is told where replicas are: what fails is told again later, what comes meanwhile goes along."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from barnabas.broker.directory_assignments import DirectoryAssignments
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from barnabas.protocol.schema import Message
from barnabas.runtime.broker import assigning
from barnabas.runtime.broker.assigning import AssignmentsDriver
from barnabas.runtime.broker.controller_channel import ControllerUnreachable
from unit.broker.hosting import NODE, Hosting, directory_id
from unit.broker.test_directory_assignments import replica, told

A, B = directory_id("/a"), directory_id("/b")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assigning, "RETRY_MIN_MS", 1)


class Controller:
    """Accepts everything, but for the requests that are to be lost or refused first."""

    def __init__(self, failures: list[str]) -> None:
        self.failures = failures
        self.asked: list[set[tuple[Any, Any]]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def ask(self, request: Message, timeout_ms: int) -> AssignReplicasToDirsResponse:
        assert timeout_ms == 100
        assert isinstance(request, AssignReplicasToDirsRequest)
        self.asked.append(set(told(request)))
        await self.gate.wait()
        failure = self.failures.pop(0) if self.failures else ""
        if failure == "lost":
            raise ControllerUnreachable("nobody is there")
        code = ErrorCode.STALE_BROKER_EPOCH if failure == "refused" else ErrorCode.NONE
        directories = [
            ResponseDirectoryData(
                id=directory.id,
                topics=[
                    ResponseTopicData(
                        topic_id=topic.topic_id,
                        partitions=[
                            ResponsePartitionData(partition_index=each.partition_index, error_code=0)
                            for each in topic.partitions
                        ],
                    )
                    for topic in directory.topics
                ],
            )
            for directory in request.directories
        ]
        return AssignReplicasToDirsResponse(throttle_time_ms=0, error_code=code, directories=directories)


def make(controller: Controller) -> tuple[DirectoryAssignments, AssignmentsDriver]:
    hosting = Hosting(directories=("/a", "/b"))
    hosting.create("t", partitions=3, directory=A)
    assignments = DirectoryAssignments(NODE, hosting.directories, lambda _: False)
    driver = AssignmentsDriver(
        assignments,
        controller.ask,
        image=lambda: hosting.image,
        broker_epoch=lambda: 1,
        timeout_ms=100,
        loop=asyncio.get_running_loop(),
    )
    return assignments, driver


@pytest.mark.parametrize("failures", [[], ["lost"], ["refused", "lost", "refused"]])
def test_it_is_told_until_the_controller_knows(failures: list[str]) -> None:
    async def scenario() -> None:
        count = len(failures) + 1
        controller = Controller(failures)
        assignments, driver = make(controller)
        known = asyncio.Event()
        assignments.assign(replica(), B, known.set)
        driver.wake()
        await known.wait()
        assert controller.asked == [{(replica(), B)}] * count
        driver.close()

    asyncio.run(scenario())


def test_what_comes_while_a_request_is_under_way_goes_with_the_next() -> None:
    async def scenario() -> None:
        controller = Controller([])
        controller.gate.clear()
        assignments, driver = make(controller)
        assignments.assign(replica("t", 0), B)
        driver.wake()
        while not controller.asked:
            await asyncio.sleep(0)
        known = asyncio.Event()
        for index in (1, 2):
            assignments.assign(replica("t", index), B, known.set)
            driver.wake()
        controller.gate.set()
        await known.wait()
        assert controller.asked == [{(replica("t", 0), B)}, {(replica("t", 1), B), (replica("t", 2), B)}]
        driver.close()

    asyncio.run(scenario())


def test_nothing_is_told_after_the_end() -> None:
    async def scenario() -> None:
        controller = Controller([])
        assignments, driver = make(controller)
        assignments.assign(replica(), B)
        driver.wake()
        driver.close()
        for _ in range(5):
            await asyncio.sleep(0)
        assert not controller.asked

    asyncio.run(scenario())
