"""A broker's replicas and handlers on a simulated disk, under metadata that a test writes by hand.

Requests go through real frames in the version that a test names, so that every answer has been encoded and read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from barnabas.broker.call import Client, Pending
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.fetch_sessions import FetchSessions
from barnabas.broker.handlers.fetch import Fetch
from barnabas.broker.handlers.fetch_reading import SelectReplica
from barnabas.broker.handlers.leader_epochs import OffsetForLeaderEpoch
from barnabas.broker.handlers.list_offsets import ListOffsets
from barnabas.broker.handlers.metadata import CreateTopics, Metadata
from barnabas.broker.handlers.produce import Produce
from barnabas.broker.replicas import Replicas
from barnabas.broker.routing import build_table
from barnabas.broker.topic_configs import BrokerConfigs, TopicConfigs
from barnabas.broker.waiting_room import WaitingRoom
from barnabas.log.directories import LogDirectories
from barnabas.log.log_config import LogConfig
from barnabas.log.meta_properties import MetaProperties, write_meta_properties
from barnabas.log.partition_log import PartitionLog
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage, Provenance
from barnabas.metadata.topics import UNASSIGNED_DIRECTORY
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.register_broker import BrokerEndpoint, RegisterBrokerRecord
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.sim.disk import SimDisk
from builders import TIMESTAMP, make_batch

NODE, OTHER, THIRD = 1, 2, 3
LISTENER = "PLAINTEXT"
DIRECTORY = "/data"
CLIENT = Client("PLAINTEXT-127.0.0.1:5000-0", "127.0.0.1", 5000, LISTENER)


def topic_id(name: str, incarnation: int = 0) -> Uuid:
    return Uuid(f"{name}-{incarnation}".encode().ljust(16, b".")[:16])


def directory_id(path: str) -> Uuid:
    return Uuid(path.encode().rjust(16, b"d")[:16])


class Hosting:
    """One broker. `now_ms` is the time of all that happens next."""

    def __init__(
        self,
        *,
        directories: Sequence[str] = (DIRECTORY,),
        disk: SimDisk | None = None,
        static_configs: Mapping[str, str] | None = None,
        session_slots: int = 10,
        fetch_max_bytes: int = 57_671_680,
        select_replica: SelectReplica | None = None,
        create_topics: CreateTopics | None = None,
    ) -> None:
        self.now_ms = TIMESTAMP
        self.disk = disk or SimDisk()
        self.failed: list[str] = []
        self.off_loop: list[Callable[[], None]] = []
        for path in directories:
            if disk is None:
                self.disk.make_directory(path)
                meta = MetaProperties(cluster_id="c", node_id=NODE, directory_id=directory_id(path))
                write_meta_properties(self.disk, path, meta, self.now_ms)
        self.directories = LogDirectories(self.disk, directories, rng=Random(1))
        configs = TopicConfigs(BrokerConfigs(NODE, dict(static_configs or {})))
        self.directories.load(lambda _: LogConfig(), now_ms=self.now_ms)
        self.armed: list[int] = []
        self.waiting_room = WaitingRoom(self.armed.append)
        self.flushes: list[tuple[PartitionLog, Callable[[OSError | None], object]]] = []
        self.replicas = Replicas(
            NODE,
            self.directories,
            configs,
            self.waiting_room,
            lambda path, _: self.failed.append(path),
            lambda log, then: self.flushes.append((log, then)),
        )
        self.sessions = FetchSessions(session_slots, Random(2))
        table = build_table(
            Produce(self.replicas, self._run_off_loop).routes,
            Fetch(self.replicas, self.sessions, max_bytes=fetch_max_bytes, select_replica=select_replica).routes,
            ListOffsets(self.replicas).routes,
            OffsetForLeaderEpoch(self.replicas).routes,
            Metadata(
                lambda: self.replicas.image, node_id=NODE, cluster_id="cluster", create_topics=create_topics
            ).routes,
        )
        self.dispatcher = Dispatcher(table)

    def _run_off_loop(
        self, work: Callable[[], Any], done: Callable[[Any], object], failed: Callable[[Exception], object]
    ) -> None:
        def later() -> None:
            try:
                result = work()
            except Exception as error:
                failed(error)
            else:
                done(result)

        self.off_loop.append(later)

    # Metadata

    @property
    def image(self) -> MetadataImage:
        return self.replicas.image

    def apply(self, *records: Message) -> None:
        delta = MetadataDelta(self.image)
        for record in records:
            delta.replay(record)
        self.replicas.apply(delta, delta.apply(Provenance()), self.now_ms)

    def create(
        self,
        name: str = "t",
        *,
        partitions: int = 1,
        replicas: Sequence[int] = (NODE,),
        isr: Sequence[int] | None = None,
        leader: int | None = None,
        leader_epoch: int = 0,
        directory: Uuid = UNASSIGNED_DIRECTORY,
        incarnation: int = 0,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        self.apply(
            *[config_record(name, key, value) for key, value in (configs or {}).items()],
            TopicRecord(name=name, topic_id=topic_id(name, incarnation)),
            *(
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id(name, incarnation),
                    replicas=list(replicas),
                    isr=list(replicas if isr is None else isr),
                    removing_replicas=[],
                    adding_replicas=[],
                    leader=replicas[0] if leader is None else leader,
                    leader_epoch=leader_epoch,
                    partition_epoch=0,
                    directories=[directory] * len(replicas),
                )
                for index in range(partitions)
            ),
        )

    def change(self, name: str = "t", partition: int = 0, **changes: Any) -> None:
        self.apply(PartitionChangeRecord(topic_id=topic_id(name), partition_id=partition, **changes))

    def delete(self, name: str = "t", incarnation: int = 0) -> None:
        self.apply(RemoveTopicRecord(topic_id=topic_id(name, incarnation)))

    def configure(self, name: str, key: str, value: str | None) -> None:
        self.apply(config_record(name, key, value))

    # Requests

    def ask(self, request: Message, version: int | None = None, client_id: str | None = "me") -> Any:
        """The answer as its client reads it, or an `Awaited` where it is still to come, or None without one."""
        number = type(request).api_key
        assert number is not None, "only requests are asked"
        key = ApiKey(number)
        version = APIS[key].versions[-1] if version is None else version
        # As received: in one writable buffer.
        frame = memoryview(bytearray(b"".join(frame_request(request, version, 7, client_id))))[4:]
        answered = self.dispatcher.answer(frame, CLIENT, self.now_ms)
        if isinstance(answered, Pending):
            return Awaited(self, answered, key, version)
        return None if answered is None else read(answered, key, version)

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms
        self.waiting_room.expire(self.now_ms)

    def flush(self) -> None:
        """Let the flushes that are wanted be done."""
        flushes, self.flushes = self.flushes, []
        for log, then in flushes:
            log.flush(self.now_ms)
            then(None)

    def work_off_loop(self) -> None:
        work, self.off_loop = self.off_loop, []
        for each in work:
            each()

    def append(self, count: int = 1, name: str = "t", partition: int = 0, value_bytes: int = 10) -> None:
        """Have a batch produced, without waiting for anybody."""
        batch = make_batch(count, timestamp=self.now_ms, value_bytes=value_bytes)
        answer = self.ask(produce_request(batch, name, partition, acks=1), 12)
        assert answer.responses[0].partition_responses[0].error_code == 0, answer


class Awaited:
    """An answer that is to come."""

    def __init__(self, hosting: Hosting, pending: Pending, key: ApiKey, version: int) -> None:
        self._hosting = hosting
        self._pending = pending
        self._key = key
        self._version = version

    @property
    def is_there(self) -> bool:
        return self._pending.is_completed

    def answer(self) -> Any:
        parts = self._hosting.dispatcher.finish(self._pending)
        return None if parts is None else read(parts, self._key, self._version)


def read(parts: Sequence[Any], key: ApiKey, version: int) -> Any:
    whole = b"".join(part if isinstance(part, bytes | bytearray | memoryview) else part.bytes() for part in parts)
    correlation_id, message = read_response(memoryview(whole)[4:], APIS[key].response, version)
    assert correlation_id == 7
    return message


def config_record(name: str, key: str, value: str | None, kind: int = ConfigResourceType.TOPIC) -> ConfigRecord:
    return ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)


def broker_record(
    broker_id: int, *, fenced: bool = False, listener: str = LISTENER, rack: str | None = None
) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=topic_id("broker", broker_id),
        broker_epoch=broker_id,
        end_points=[BrokerEndpoint(name=listener, host=f"host{broker_id}", port=9000 + broker_id, security_protocol=0)],
        features=[],
        rack=rack,
        fenced=fenced,
    )


def produce_request(
    records: Any, name: str = "t", partition: int = 0, *, acks: int = -1, timeout_ms: int = 1000, **fields: Any
) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=records)
    topic = TopicProduceData(name=name, topic_id=topic_id(name), partition_data=[data])
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[topic], **fields)
