"""A controller over an in-memory log that commits when told to, with brokers that only register and heartbeat.

After every step the invariants hold of what the controller decided, and whatever is committed is what it had replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from barnabas.controller.controller import Controller
from barnabas.controller.decision import RequestContext
from barnabas.controller.effects import (
    Append,
    Appended,
    BecameLeader,
    Effect,
    Event,
    KRaftUpgradeConfirmed,
    KRaftUpgradeRefused,
    MetadataCommitted,
    QuorumChanged,
    RequestReceived,
    Resigned,
    Respond,
    SetTimer,
    TimerFired,
    UpgradeKRaftVersion,
)
from barnabas.controller.invariants import validate
from barnabas.controller.operations import OPERATIONS, QUERIES, TASKS
from barnabas.controller.settings import ControllerSettings
from barnabas.controller.tasks import PeriodicTask
from barnabas.metadata.features import FEATURES, KRAFT_VERSION, SUPPORTED_FEATURES
from barnabas.metadata.framing import MetadataBatch, VersionedRecord, read_batches
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.loader import MetadataLoader
from barnabas.metadata.topics import Partition
from barnabas.metadata.versions import LATEST_METADATA_VERSION, METADATA_VERSION, MetadataVersion
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from barnabas.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
M = TypeVar("M", bound=Message)


def directory(broker_id: int, number: int = 0) -> Uuid:
    return Uuid(b"directory" + broker_id.to_bytes(4, "big") + number.to_bytes(3, "big"))


def incarnation(broker_id: int, number: int = 0) -> Uuid:
    return Uuid(b"incarnate" + broker_id.to_bytes(4, "big") + number.to_bytes(3, "big"))


def bootstrap(version: MetadataVersion = LATEST_METADATA_VERSION, *, has_elr: bool = True) -> list[Message]:
    levels = {name: feature.default_level(version) for name, feature in FEATURES.items() if name != KRAFT_VERSION}
    levels["eligible.leader.replicas.version"] = int(has_elr)
    records: list[Message] = [FeatureLevelRecord(name=METADATA_VERSION, feature_level=version)]
    records += [FeatureLevelRecord(name=name, feature_level=level) for name, level in levels.items() if level]
    return records


def registration(
    broker_id: int,
    *,
    incarnation_number: int = 0,
    directories: int = 1,
    rack: str | None = None,
    previous_epoch: int = -1,
    **changes: Any,
) -> BrokerRegistrationRequest:
    fields: dict[str, Any] = {
        "broker_id": broker_id,
        "cluster_id": CLUSTER_ID,
        "incarnation_id": incarnation(broker_id, incarnation_number),
        "listeners": [Listener(name="PLAINTEXT", host="127.0.0.1", port=9092 + broker_id, security_protocol=0)],
        "features": [
            Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
            for name, levels in SUPPORTED_FEATURES.items()
        ],
        "rack": rack,
        "log_dirs": [directory(broker_id, number) for number in range(directories)],
        "previous_broker_epoch": previous_epoch,
    }
    return BrokerRegistrationRequest(**fields | changes)


class ControlledCluster:
    def __init__(
        self,
        *,
        version: MetadataVersion = LATEST_METADATA_VERSION,
        has_elr: bool = True,
        seed: int = 0,
        is_leading: bool = True,
        kraft_version: int = 1,
        tasks: Sequence[PeriodicTask] = TASKS,
        **settings: Any,
    ) -> None:
        self.now_ms = 1_000_000
        self.wall_offset_ms = 0
        self.log: list[MetadataBatch] = []
        self.committed_batches = 0
        self.loader = MetadataLoader()
        self.epoch = 0
        self.responses: dict[object, Message] = {}
        self.refusals: dict[object, ApiError | None] = {}
        self.timer_ms: int | None = None
        self.kraft_answer: KRaftUpgradeConfirmed | KRaftUpgradeRefused = KRaftUpgradeConfirmed()
        self.kraft_version = kraft_version
        self.epochs: dict[int, int] = {}
        self._tokens = 0
        # No-op records come in their own test; elsewhere they would only make logs longer.
        settings.setdefault("max_idle_interval_ms", None)
        self.controller = Controller(
            settings=ControllerSettings(node_id=3000, cluster_id=CLUSTER_ID, **settings),
            rng=Random(seed),
            bootstrap=bootstrap(version, has_elr=has_elr),
            operations=OPERATIONS,
            queries=QUERIES,
            tasks=tasks,
        )
        if is_leading:
            self.lead()

    @property
    def image(self) -> MetadataImage:
        return self.controller.image

    @property
    def end_offset(self) -> int:
        return self.log[-1].last_offset + 1 if self.log else 0

    def partition(self, topic: str, index: int = 0) -> Partition:
        found = self.image.topics.by_name(topic)
        assert found is not None
        return found.partitions[index]

    def records(self, start: int = 0) -> list[Message]:
        """The records of the log from an offset on."""
        return [
            record.message
            for batch in self.log
            for offset, record in enumerate(batch.records, batch.base_offset)
            if offset >= start
        ]

    def step(self, event: Event) -> None:
        for effect in self.controller.step(event, self.now_ms):
            self._perform(effect)
        validate(self.image)

    def _perform(self, effect: Effect) -> None:
        match effect:
            case Append(epoch, batches):
                assert epoch == self.epoch
                base_offset = self.end_offset
                for batch in read_batches(batches):
                    self.write([record.message for record in batch.records], batch.records)
                self.step(Appended(base_offset))
            case UpgradeKRaftVersion(_, level, validate_only):
                self.step(self.kraft_answer)
                if not validate_only and self.kraft_answer == KRaftUpgradeConfirmed():
                    self.step(QuorumChanged(3000, level, frozenset({3000})))
            case Respond(token, response, refusal):
                assert token not in self.responses, "a request is answered once"
                self.responses[token] = response
                self.refusals[token] = refusal
            case SetTimer(at_ms):
                self.timer_ms = at_ms

    def write(self, messages: Sequence[Message], versioned: Sequence[VersionedRecord] = ()) -> None:
        """Put a batch at the end of the log; one without records is the quorum's own."""
        records = list(versioned) or [VersionedRecord(message, 0) for message in messages]
        base = self.end_offset
        self.log.append(MetadataBatch(base, base + max(len(records), 1) - 1, self.epoch, self.now_ms, 0, records))

    def commit(self) -> None:
        """Let everything in the log be committed."""
        batches = self.log[self.committed_batches :]
        self.committed_batches = len(self.log)
        self.loader.load(batches)
        self.step(MetadataCommitted(self.loader.image, self.end_offset - 1, self.loader.is_in_transaction))
        if self.committed_batches == len(self.log):
            assert replace(self.image, provenance=self.loader.image.provenance) == self.loader.image

    def lead(self) -> None:
        self.epoch += 1
        self.write([])
        start_offset = self.end_offset - 1
        self.step(QuorumChanged(3000, self.kraft_version, frozenset({3000})))
        self.step(BecameLeader(self.epoch, start_offset))
        self.commit()
        self.commit()

    def resign(self, *, keep_batches: int = 0) -> None:
        """Lose the leadership, and with it what is not committed but for some batches."""
        del self.log[self.committed_batches + keep_batches :]
        self.step(Resigned(self.epoch))
        self.timer_ms = None

    def send(self, request: Message, *, version: int | None = None, **context: Any) -> object:
        """Ask without waiting; the token finds the response later."""
        self._tokens += 1
        newest = request.valid_versions[-1] if version is None else version
        asker = RequestContext(version=newest, **context)
        self.step(RequestReceived(self._tokens, request, asker, self.wall_offset_ms))
        return self._tokens

    def ask(self, request: Message, expected: type[M], *, version: int | None = None, **context: Any) -> M:
        token = self.send(request, version=version, **context)
        if token not in self.responses:
            self.commit()
        response = self.responses[token]
        assert isinstance(response, expected)
        return response

    def advance(self, duration_ms: int) -> None:
        """Let time pass, and with it whatever falls due."""
        end_ms = self.now_ms + duration_ms
        while self.timer_ms is not None and self.timer_ms <= end_ms:
            self.now_ms = max(self.now_ms, self.timer_ms)
            self.timer_ms = None
            self.step(TimerFired(self.wall_offset_ms))
        self.now_ms = end_ms
        self.commit()

    def register(self, broker_id: int, **fields: Any) -> int:
        response = self.ask(registration(broker_id, **fields), BrokerRegistrationResponse)
        assert response.error_code == 0
        self.epochs[broker_id] = response.broker_epoch
        return response.broker_epoch

    def heartbeat(self, broker_id: int, **fields: Any) -> BrokerHeartbeatResponse:
        values: dict[str, Any] = {
            "broker_id": broker_id,
            "broker_epoch": self.epochs[broker_id],
            "current_metadata_offset": self.end_offset - 1,
            "want_fence": False,
            "want_shut_down": False,
        }
        return self.ask(BrokerHeartbeatRequest(**values | fields), BrokerHeartbeatResponse)

    def start_brokers(self, *broker_ids: int, **fields: Any) -> None:
        for broker_id in broker_ids:
            self.register(broker_id, **fields)
            assert not self.heartbeat(broker_id).is_fenced

    def fence(self, broker_id: int) -> None:
        assert self.heartbeat(broker_id, want_fence=True).is_fenced
