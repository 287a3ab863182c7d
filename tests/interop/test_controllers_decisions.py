"""The same requests about metadata get the same answers from a controller of ours and from one of Apache's.

Each is the only voter of its quorum and has the same brokers. What is asked for in one step is there in the next, on
both sides. Ids, epochs and the sentences that explain an error are each side's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from barnabas.protocol.messages.create_topics import CreateTopicsRequest
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from interop.metadata_requests import (
    STRANGE_ID,
    Side,
    alter,
    assign,
    assigned,
    beat,
    create,
    credential,
    delete,
    directory_of,
    elect,
    finalize,
    forget,
    grow,
    limit,
    list_moves,
    move,
    register,
    report,
)
from interop.mixed_cluster import MixedCluster, running
from interop.referee import Tools

pytestmark = pytest.mark.referee

BROKERS = (101, 102, 103)
TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
OWN = {"errorMessage", "throttleTimeMs", "topicId", "brokerEpoch", "producerIdStart"}
# Both answer in an order that chance or a hash has made.
SORTED_BY = ("topic", "entityType")


def shared(node: Any) -> Any:
    """The answer without what is each side's own."""
    if isinstance(node, list):
        found = [shared(each) for each in node]
        for name in SORTED_BY:
            if all(isinstance(each, dict) and name in each for each in found):
                found.sort(key=itemgetter(name))
        return found
    if isinstance(node, dict):
        return {name: shared(value) for name, value in node.items() if name not in OWN}
    return node


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Iterator[tuple[Side, Side]]:
    home: Path = tmp_path_factory.mktemp("decisions")
    settings = {"broker.session.timeout.ms": "3600000"}
    with (
        running(MixedCluster(home / "ours", tools, "o", brokers=0, settings=settings)) as ours,
        running(MixedCluster(home / "apache", tools, "a", brokers=0, settings=settings)) as apache,
    ):
        yield Side(ours, BROKERS), Side(apache, BROKERS)


Step = Callable[[Side], Message]


def always(request: Message) -> Step:
    return lambda _: request


STEPS: dict[str, Step] = {
    # Topics
    "a topic": always(create("plain", 2, 3)),
    "a topic with settings": always(
        assigned("set", (101,), settings={"retention.ms": "1000", "cleanup.policy": "compact"})
    ),
    "a topic with all defaults": always(create("defaults", -1, -1)),
    "a topic assigned": always(assigned("kept", (101, 102, 103), (102, 103, 101))),
    "a topic that is there": always(create("plain")),
    "a topic that collides": always(create("p.x")),
    "a topic that collides with it": always(create("p_x")),
    "a topic twice": always(create("twice", again=True)),
    "a topic without a name": always(create("")),
    "a topic called a dot": always(create(".")),
    "a topic with a long name": always(create("x" * 250)),
    "a topic with a bad name": always(create("a b")),
    "a topic of no partitions": always(create("none", 0)),
    "a topic of fewer": always(create("fewer", -3)),
    "a topic of no replicas": always(create("unreplicated", 1, 0)),
    "a topic of too many replicas": always(create("wide", 1, 4)),
    "a topic of far too many replicas": always(create("wider", 1, 32_767)),
    "a topic with numbers and an assignment": always(create("both", 1, 1, assigned=[(101,)])),
    "an assignment with a gap": always(assigned("gap", (101,), (102,), indexes=(0, 2))),
    "an assignment of one twice": always(assigned("doubled", (101,), (102,), indexes=(0, 0))),
    "an assignment from one on": always(assigned("from-one", (101,), indexes=(1,))),
    "an assignment to nobody": always(assigned("nobody", ())),
    "an assignment to one twice": always(assigned("twofold", (101, 101))),
    "an assignment to a stranger": always(assigned("strange", (7,))),
    "an uneven assignment": always(assigned("uneven", (101,), (101, 102))),
    "a setting that there is not": always(create("bad", settings={"no.such": "1"})),
    "a setting out of range": always(create("bad", settings={"retention.ms": "-2"})),
    "a setting without a value": always(create("bad", settings={"retention.ms": None})),
    "a setting that is no number": always(create("bad", settings={"retention.ms": "soon"})),
    "settings that contradict": always(
        create("bad", settings={"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"})
    ),
    "no topics": always(CreateTopicsRequest(topics=[])),
    # Partitions
    "two more partitions": always(grow("plain", 4)),
    "as many partitions": always(grow("plain", 4)),
    "fewer partitions": always(grow("plain", 3)),
    "no partitions": always(grow("plain", 0)),
    "partitions of a topic that is not there": always(grow("absent", 4)),
    "partitions assigned": always(grow("kept", 3, (103, 101, 102))),
    "too few assigned": always(grow("kept", 5, (103, 101, 102))),
    "assigned to too few": always(grow("kept", 4, (103, 101))),
    "assigned to a stranger": always(grow("kept", 4, (103, 101, 7))),
    "assigned to nobody": always(grow("kept", 4, ())),
    "assigned to one twice": always(grow("kept", 4, (103, 103, 101))),
    # In sync
    "a smaller ISR": lambda side: report(side, "kept", (101, 102)),
    "an ISR of an old partition epoch": lambda side: report(side, "kept", (101,)),
    "an ISR of a partition epoch to come": lambda side: report(side, "kept", (101,), epoch=9),
    "an ISR of a leader epoch to come": lambda side: report(side, "kept", (101,), epoch=1, leader_epoch=9),
    "an ISR of an old leader epoch": lambda side: report(side, "kept", (101,), epoch=1, leader_epoch=-1),
    "an ISR by another": lambda side: report(side, "kept", (101,), epoch=1, leader=102),
    "an ISR without its leader": lambda side: report(side, "kept", (102,), epoch=1),
    "an ISR of nobody": lambda side: report(side, "kept", (), epoch=1),
    "an ISR with a stranger": lambda side: report(side, "kept", (101, 7), epoch=1),
    "an ISR that recovers": lambda side: report(side, "kept", (101, 102), epoch=1, leader_recovery_state=1),
    "an ISR of a partition that is not there": lambda side: report(side, "kept", (101,), index=9),
    "an ISR of a topic that is not there": lambda side: report(side, "absent", (101,)),
    # Elections
    "a preferred leader that leads": always(elect(0, ("kept", 0))),
    "an unclean election of one that is led": always(elect(1, ("kept", 0))),
    "an election that there is not": always(elect(2, ("kept", 0))),
    "an election of what is not there": always(elect(0, ("absent", 0), ("kept", 9))),
    "elections of all": always(elect(0)),
    # Moves
    "no moves": always(list_moves()),
    "a move": always(move("kept", 1, (101, 102))),
    "a move to the same": always(move("plain", 9, (101,))),
    "a move of what is not there": always(move("absent", 0, (101,))),
    "a move to nobody": always(move("kept", 0, ())),
    "a move to a stranger": always(move("kept", 0, (7,))),
    "a move to one twice": always(move("kept", 0, (101, 101))),
    "a move to less than nobody": always(move("kept", 0, (-1,))),
    "a move that is not to change the number": always(move("kept", 0, (101,), allow_replication_factor_change=False)),
    "a cancelled move": always(move("kept", 0, None)),
    "a move to a new broker": always(move("set", 0, BROKERS)),
    "the moves": always(list_moves()),
    "the moves of some": always(list_moves(("kept", 0), ("absent", 0))),
    "the move is cancelled": always(move("set", 0, None)),
    # Settings
    "a setting set": always(alter(TOPIC, "plain", ("retention.ms", SET, "5"))),
    "a setting deleted": always(alter(TOPIC, "plain", ("retention.ms", DELETE, None))),
    "a list appended to": always(alter(TOPIC, "plain", ("cleanup.policy", APPEND, "compact"))),
    "a list taken from": always(alter(TOPIC, "plain", ("cleanup.policy", SUBTRACT, "compact"))),
    "a number appended to": always(alter(TOPIC, "plain", ("retention.ms", APPEND, "5"))),
    "a setting twice": always(alter(TOPIC, "plain", ("retention.ms", SET, "5"), ("retention.ms", SET, "6"))),
    "an unknown setting": always(alter(TOPIC, "plain", ("no.such", SET, "5"))),
    "a setting of a topic that is not there": always(alter(TOPIC, "absent", ("retention.ms", SET, "5"))),
    "a setting of a topic without a name": always(alter(TOPIC, "", ("retention.ms", SET, "5"))),
    "a setting of a broker": always(alter(BROKER, "101", ("message.max.bytes", SET, "5000"))),
    "a setting of a broker that is not there": always(alter(BROKER, "9", ("message.max.bytes", SET, "5000"))),
    "a setting of a broker that is no number": always(alter(BROKER, "x", ("message.max.bytes", SET, "5000"))),
    "a setting of all brokers": always(alter(BROKER, "", ("message.max.bytes", SET, "5000"))),
    "a setting of a cluster in one broker": always(alter(BROKER, "101", ("min.insync.replicas", SET, "2"))),
    "the ISR needed by the cluster": always(alter(BROKER, "", ("min.insync.replicas", SET, "2"))),
    "the ISR needed by the cluster deleted": always(alter(BROKER, "", ("min.insync.replicas", DELETE, None))),
    "a setting of a kind that there is not": always(alter(77, "x", ("a", SET, "5"))),
    "a setting of a group": always(alter(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))),
    "a bad setting of a group": always(alter(GROUP, "g", ("consumer.session.timeout.ms", SET, "1"))),
    "a setting of client metrics": always(alter(CLIENT_METRICS, "m", ("interval.ms", SET, "1000"))),
    "a bad setting of client metrics": always(alter(CLIENT_METRICS, "m", ("interval.ms", SET, "5"))),
    # Brokers
    "a registration of another cluster": always(register(104, cluster_id="otherOtherOtherOtherOt")),
    "a registration of a living broker": always(register(101, incarnation_id=STRANGE_ID)),
    "a registration without features": always(register(104, features=[])),
    "a registration with a directory of another": always(register(104, log_dirs=[directory_of(101)])),
    "a registration with a reserved directory": always(register(104, log_dirs=[Uuid(bytes(15) + b"\1")])),
    "a registration with a directory twice": always(register(104, log_dirs=[directory_of(104)] * 2)),
    "a registration without directories": always(register(104, log_dirs=[])),
    "a heartbeat": lambda side: beat(side, 101),
    "a heartbeat of another epoch": lambda side: beat(side, 101, broker_epoch=1_000_000),
    "a heartbeat of a stranger": lambda side: beat(side, 101, broker_id=7),
    "an unregistration of a stranger": always(UnregisterBrokerRequest(broker_id=7)),
    "producer ids": lambda side: AllocateProducerIdsRequest(broker_id=101, broker_epoch=side.epochs[101]),
    "producer ids in another epoch": always(AllocateProducerIdsRequest(broker_id=101, broker_epoch=1_000_000)),
    "producer ids for a stranger": always(AllocateProducerIdsRequest(broker_id=7, broker_epoch=0)),
    # Directories
    "a replica in its directory": lambda side: assign(side, 101, directory_of(101), "kept", 0),
    "a replica in a strange directory": lambda side: assign(side, 101, STRANGE_ID, "kept", 0),
    "a replica of a partition that is not there": lambda side: assign(side, 101, directory_of(101), "kept", 9),
    "a replica of a topic that is not there": lambda side: assign(side, 101, directory_of(101), "absent", 0),
    "a replica that a broker is not to have": lambda side: assign(side, 103, directory_of(103), "set", 5),
    # Features
    "a feature lowered": always(finalize("share.version", 0, 2)),
    "a feature lowered as a raise": always(finalize("share.version", 0, 1)),
    "a feature at its level": always(finalize("share.version", 1, 1)),
    "a feature too high": always(finalize("share.version", 99, 1)),
    "a feature below none": always(finalize("share.version", -1, 2)),
    "a feature that there is not": always(finalize("no.version", 1, 1)),
    "a feature changed in no way": always(finalize("share.version", 1, 0)),
    "a feature changed in a strange way": always(finalize("share.version", 0, 9)),
    "metadata.version too low": always(finalize("metadata.version", 1, 3)),
    "metadata.version lowered": always(finalize("metadata.version", 29, 2)),
    "metadata.version lowered with a loss": always(finalize("metadata.version", 22, 2)),
    "kraft.version lowered": always(finalize("kraft.version", 0, 2)),
    "kraft.version at its level": always(finalize("kraft.version", 1, 1)),
    "kraft.version too high": always(finalize("kraft.version", 2, 1)),
    # Quotas and credentials
    "a quota": always(limit([("user", "ada")], "producer_byte_rate", 1000.0)),
    "a quota of everybody": always(limit([("user", None)], "producer_byte_rate", 1000.0)),
    "a quota of nobody": always(limit([], "producer_byte_rate", 1000.0)),
    "a quota of a strange kind": always(limit([("group", "g")], "producer_byte_rate", 1000.0)),
    "a quota with a strange key": always(limit([("user", "ada")], "no_such_rate", 1000.0)),
    "a quota of nothing": always(limit([("user", "ada")], "producer_byte_rate", 0.0)),
    "a quota of less": always(limit([("user", "ada")], "producer_byte_rate", -1.0)),
    "a quota in fractions": always(limit([("user", "ada")], "producer_byte_rate", 1.5)),
    "a quota of an address": always(limit([("ip", "127.0.0.1")], "connection_creation_rate", 10.0)),
    "a quota of no address": always(limit([("ip", "not an address")], "connection_creation_rate", 10.0)),
    "a quota of an address and a user": always(
        limit([("ip", "127.0.0.1"), ("user", "a")], "connection_creation_rate", 1.0)
    ),
    "a quota removed": always(limit([("user", "ada")], "producer_byte_rate", 0.0, remove=True)),
    "a credential": always(credential("ada", 1, 4096)),
    "a credential without a name": always(credential("", 1, 4096)),
    "a credential of a strange mechanism": always(credential("ada", 9, 4096)),
    "a credential of too few iterations": always(credential("ada", 1, 1)),
    "a credential of too many iterations": always(credential("ada", 1, 20_000)),
    "a credential deleted": always(forget("ada", 1)),
    "a credential deleted that is not there": always(forget("bob", 1)),
    "a credential deleted of a strange mechanism": always(forget("ada", 9)),
    # The end
    "a topic deleted": always(delete("plain")),
    "a topic deleted by its id": lambda side: delete(None, side.topic_ids["kept"]),
    "a topic deleted that is not there": always(delete("plain")),
    "a topic deleted by a strange id": always(delete(None, STRANGE_ID)),
    "a topic deleted by neither": always(delete(None)),
    "a topic deleted by both": always(delete("set", STRANGE_ID)),
    "a broker unregistered": always(UnregisterBrokerRequest(broker_id=103)),
}


# What Apache's controller takes: nothing as the wish to delete, and of two names for one part the last.
STRICTER: dict[str, tuple[Step, ErrorCode]] = {
    "a setting to nothing": (always(alter(TOPIC, "fresh", ("retention.ms", SET, None))), ErrorCode.INVALID_CONFIG),
    "a quota of a kind twice": (
        always(limit([("user", "a"), ("user", "b")], "producer_byte_rate", 1000.0)),
        ErrorCode.INVALID_REQUEST,
    ),
}
# What costs Apache's controller its office: it takes a number that it does not know for a defect of its own.
UNSEATING: dict[str, tuple[Step, ErrorCode]] = {
    "an operation that there is not": (
        always(alter(TOPIC, "fresh", ("retention.ms", 9, "5"))),
        ErrorCode.INVALID_REQUEST,
    ),
    "an ISR that recovers strangely": (
        lambda side: report(side, "fresh", (101,), leader_recovery_state=9),
        ErrorCode.INVALID_REQUEST,
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_both_decide_alike(sides: tuple[Side, Side], name: str) -> None:
    ours, apache = (shared(side.answer(STEPS[name](side))) for side in sides)
    assert ours == apache


@pytest.mark.parametrize("name", [*STRICTER, *UNSEATING])
def test_ours_refuses_what_apaches_should(sides: tuple[Side, Side], name: str) -> None:
    ours, _ = sides
    step, code = {**STRICTER, **UNSEATING}[name]
    ours.answer(assigned("fresh", (101,)))
    assert codes(ours.answer(step(ours))) == {code}


def codes(node: Any) -> set[int]:
    """Every error in an answer."""
    if isinstance(node, list):
        return set().union(*map(codes, node))
    if isinstance(node, dict):
        own = {node["errorCode"]} - {ErrorCode.NONE} if "errorCode" in node else set()
        return own.union(*(codes(value) for value in node.values()))
    return set()
