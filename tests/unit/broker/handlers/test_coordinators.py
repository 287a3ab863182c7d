"""FindCoordinator: the leader of a group's partition, in every version; its topic is made on demand."""

from __future__ import annotations

import pytest

from barnabas.broker.handlers.coordinators import GROUPS_TOPIC, FindCoordinator, KeyType
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from unit.broker.handlers.asking import serve
from unit.broker.hosting import NODE, OTHER, Hosting, broker_record

VERSIONS = APIS[ApiKey.FIND_COORDINATOR].versions


class Finding(Hosting):
    """A broker whose groups fall to the partition that is the length of their id."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []
        serve(self, FindCoordinator(lambda: self.image, len, self._make))
        self.apply(broker_record(NODE), broker_record(OTHER))

    def _make(self, names: list[str], _: object) -> dict[str, ErrorCode]:
        self.made += names
        return dict.fromkeys(names, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def find(self, version: int, key: str, key_type: int = KeyType.GROUP) -> tuple[int, int, str, int]:
        if version < 4:
            answer = self.ask(FindCoordinatorRequest(key=key, key_type=key_type), version)
        else:
            (answer,) = self.ask(
                FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]), version
            ).coordinators
            assert answer.key == key
        return answer.error_code, answer.node_id, answer.host, answer.port


@pytest.mark.parametrize("version", VERSIONS)
def test_a_groups_coordinator_leads_its_partition(version: int) -> None:
    finding = Finding()
    finding.create(GROUPS_TOPIC, partitions=3, replicas=(NODE, OTHER))
    finding.change(GROUPS_TOPIC, 1, leader=OTHER)
    finding.change(GROUPS_TOPIC, 2, leader=-1)
    assert finding.find(version, "") == (ErrorCode.NONE, NODE, "host1", 9001)
    assert finding.find(version, "a") == (ErrorCode.NONE, OTHER, "host2", 9002)
    nobody = (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "", -1)
    assert finding.find(version, "ab") == finding.find(version, "abc") == nobody
    finding.apply(broker_record(OTHER, fenced=True))
    assert finding.find(version, "a") == nobody
    assert finding.made == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_topic_of_groups_is_made_when_it_is_first_asked_for(version: int) -> None:
    finding = Finding()
    assert finding.find(version, "a")[0] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert finding.made == [GROUPS_TOPIC]


def test_only_groups_have_their_topic_made() -> None:
    finding = Finding()
    for key_type in (KeyType.TRANSACTION, KeyType.SHARE):
        assert finding.find(6, "a", key_type)[0] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert finding.made == []


def test_many_groups_are_found_at_once() -> None:
    finding = Finding()
    finding.create(GROUPS_TOPIC, partitions=2, replicas=(NODE, OTHER))
    finding.change(GROUPS_TOPIC, 1, leader=OTHER)
    answer = finding.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["a", ""]))
    assert [(each.key, each.node_id) for each in answer.coordinators] == [("a", OTHER), ("", NODE)]
