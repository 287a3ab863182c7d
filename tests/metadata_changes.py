"""Random changes of a cluster's metadata, each made to a model of it and told by the records that say so.

The model is the text of an image (`metadata_text`) in plain dictionaries, changed in place.
"""

from __future__ import annotations

from random import Random
from struct import unpack
from typing import Any

from barnabas.metadata.features import FEATURES
from barnabas.metadata.versions import MetadataVersion, is_metadata_changed
from barnabas.protocol.metadata_records import register_broker, register_controller
from barnabas.protocol.metadata_records.access_control_entry import AccessControlEntryRecord
from barnabas.protocol.metadata_records.broker_registration_change import BrokerRegistrationChangeRecord
from barnabas.protocol.metadata_records.clear_elr import ClearElrRecord
from barnabas.protocol.metadata_records.client_quota import ClientQuotaRecord, EntityData
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.delegation_token import DelegationTokenRecord
from barnabas.protocol.metadata_records.feature_level import FeatureLevelRecord
from barnabas.protocol.metadata_records.fence_broker import FenceBrokerRecord
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.protocol.metadata_records.partition import PartitionRecord
from barnabas.protocol.metadata_records.partition_change import PartitionChangeRecord
from barnabas.protocol.metadata_records.producer_ids import ProducerIdsRecord
from barnabas.protocol.metadata_records.register_broker import RegisterBrokerRecord
from barnabas.protocol.metadata_records.register_controller import RegisterControllerRecord
from barnabas.protocol.metadata_records.remove_access_control_entry import RemoveAccessControlEntryRecord
from barnabas.protocol.metadata_records.remove_delegation_token import RemoveDelegationTokenRecord
from barnabas.protocol.metadata_records.remove_topic import RemoveTopicRecord
from barnabas.protocol.metadata_records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.metadata_records.unfence_broker import UnfenceBrokerRecord
from barnabas.protocol.metadata_records.unregister_broker import UnregisterBrokerRecord
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.protocol.metadata_records.zk_migration_state import ZkMigrationStateRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import ZERO_UUID, Uuid

ELR = "eligible.leader.replicas.version"
LISTENERS = ("PLAINTEXT", "SSL", "CONTROLLER")
MIGRATING = str(ZERO_UUID)

Model = dict[str, Any]


def empty_model() -> Model:
    parts = (
        "features",
        "brokers",
        "controllers",
        "topics",
        "topic_ids",
        "configs",
        "quotas",
        "acls",
        "scram",
        "tokens",
    )
    return {**{part: {} for part in parts}, "next_producer_id": -1}


class RandomChanges:
    """`records` are those of the changes made and not yet taken."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.version = MetadataVersion.V3_9_IV0
        self.model = empty_model()
        self.records: list[Message] = []
        self._next_number = 0

    def emit(self, record: Message) -> None:
        self.records.append(record)

    def _number(self) -> int:
        self._next_number += 1
        return self._next_number

    def _uuid(self) -> Uuid:
        return Uuid(self.random.randbytes(16))

    def _uuids(self, least: int = 0) -> list[Uuid]:
        return [self._uuid() for _ in range(self.random.randint(least, 3))]

    def _pick(self, part: str) -> Any:
        """A key of a part of the model, or None where it is empty."""
        keys = sorted(self.model[part])
        return self.random.choice(keys) if keys else None

    def register_broker(self) -> None:
        random = self.random
        broker_id, epoch = random.randint(0, 5), self._number()
        directories = self._uuids()
        has_cordoned = self.version.has_cordoned_log_dirs and random.random() < 0.5
        cordoned = random.sample(directories, random.randint(0, len(directories))) if has_cordoned else None
        endpoints: Model = {
            name: [f"host{broker_id}", random.randint(1, 65535), random.randint(0, 3)] for name in LISTENERS
        }
        features = {"metadata.version": [21, 30], "group.version": [0, 1]}
        rack = random.choice((None, "", "a"))
        incarnation, is_fenced, is_stopping = self._uuid(), random.random() < 0.5, random.random() < 0.2
        self.emit(
            RegisterBrokerRecord(
                broker_id=broker_id,
                broker_epoch=epoch,
                incarnation_id=incarnation,
                end_points=[
                    register_broker.BrokerEndpoint(name=name, host=host, port=port, security_protocol=protocol)
                    for name, (host, port, protocol) in endpoints.items()
                ],
                features=[
                    register_broker.BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
                    for name, (low, high) in features.items()
                ],
                rack=rack,
                fenced=is_fenced,
                in_controlled_shutdown=is_stopping,
                log_dirs=directories,
                cordoned_log_dirs=cordoned,
            )
        )
        self.model["brokers"][str(broker_id)] = {
            "epoch": epoch,
            "incarnation": str(incarnation),
            "endpoints": endpoints,
            "features": features,
            "rack": rack,
            "fenced": is_fenced,
            "shutdown": is_stopping,
            "directories": _sorted_ids(directories),
            "cordoned": None if cordoned is None else list(map(str, cordoned)),
        }

    def change_broker(self) -> None:
        broker_id, random = self._pick("brokers"), self.random
        if broker_id is None:
            return
        broker = self.model["brokers"][broker_id]
        fenced, is_stopping = random.choice((-1, 0, 1)), random.randint(0, 1)
        directories = self._uuids() if random.random() < 0.5 else []
        cordoned = self._uuids() if self.version.has_cordoned_log_dirs and random.random() < 0.5 else None
        self.emit(
            BrokerRegistrationChangeRecord(
                broker_id=int(broker_id),
                broker_epoch=broker["epoch"],
                fenced=fenced,
                in_controlled_shutdown=is_stopping,
                log_dirs=directories,
                cordoned_log_dirs=cordoned,
            )
        )
        if fenced:
            broker["fenced"] = fenced == 1
        if is_stopping:
            broker["shutdown"] = True
        if directories:
            broker["directories"] = _sorted_ids(directories)
        if cordoned is not None:
            broker["cordoned"] = list(map(str, cordoned))

    def fence_or_unfence(self) -> None:
        broker_id = self._pick("brokers")
        if broker_id is None:
            return
        broker = self.model["brokers"][broker_id]
        broker["fenced"] = self.random.random() < 0.5
        record = FenceBrokerRecord if broker["fenced"] else UnfenceBrokerRecord
        self.emit(record(id=int(broker_id), epoch=broker["epoch"]))

    def unregister_broker(self) -> None:
        broker_id = self._pick("brokers")
        if broker_id is None or self.random.random() < 0.5:
            return
        broker = self.model["brokers"].pop(broker_id)
        self.emit(UnregisterBrokerRecord(broker_id=int(broker_id), broker_epoch=broker["epoch"]))

    def register_controller(self) -> None:
        node_id, incarnation = self.random.randint(3000, 3002), self._uuid()
        is_ready = self.random.random() < 0.5
        endpoints: Model = {"CONTROLLER": ["localhost", self.random.randint(1, 65535), self.random.randint(0, 3)]}
        features = {"kraft.version": [0, 1], "metadata.version": [21, 30]}
        self.emit(
            RegisterControllerRecord(
                controller_id=node_id,
                incarnation_id=incarnation,
                zk_migration_ready=is_ready,
                end_points=[
                    register_controller.ControllerEndpoint(name=name, host=host, port=port, security_protocol=protocol)
                    for name, (host, port, protocol) in endpoints.items()
                ],
                features=[
                    register_controller.ControllerFeature(
                        name=name, min_supported_version=low, max_supported_version=high
                    )
                    for name, (low, high) in features.items()
                ],
            )
        )
        described = {"incarnation": str(incarnation), "migration": is_ready}
        self.model["controllers"][str(node_id)] = {**described, "endpoints": endpoints, "features": features}

    def create_topic(self) -> None:
        name, topic_id = f"topic-{self.random.randint(0, 9)}", self._uuid()
        if name in self.model["topic_ids"]:
            return
        self.emit(TopicRecord(name=name, topic_id=topic_id))
        self.model["topics"][str(topic_id)] = {"name": name, "partitions": {}}
        self.model["topic_ids"][name] = str(topic_id)
        for _ in range(self.random.randint(1, 4)):
            self._put_partition(str(topic_id))
        if self.random.random() < 0.3:
            self.set_config(f"2:{name}")

    def add_partition(self) -> None:
        topic_id = self._pick("topics")
        if topic_id is not None:
            self._put_partition(topic_id)

    def _brokers(self, least: int = 0) -> list[int]:
        return self.random.sample(range(6), self.random.randint(least, 3))

    @property
    def _has_elr(self) -> bool:
        return ELR in self.model["features"]

    def _put_partition(self, topic_id: str) -> None:
        random, partitions = self.random, self.model["topics"][topic_id]["partitions"]
        replicas = self._brokers(least=1)
        directories = [self._uuid() for _ in replicas] if random.random() < 0.7 else []
        elr = self._brokers() if self._has_elr else []
        last_known = self._brokers() if self._has_elr else []
        partition: Model = {
            "replicas": replicas,
            "directories": list(map(str, directories)) or [MIGRATING] * len(replicas),
            "isr": random.sample(replicas, random.randint(0, len(replicas))),
            "removing": self._brokers(),
            "adding": self._brokers(),
            "elr": elr,
            "last_known_elr": last_known,
            "leader": random.choice([-1, *replicas]),
            "recovery": random.randint(0, 1),
            "leader_epoch": random.randint(0, 5),
            "partition_epoch": random.randint(0, 5),
        }
        self.emit(
            PartitionRecord(
                partition_id=len(partitions),
                topic_id=Uuid.parse(topic_id),
                replicas=partition["replicas"],
                isr=partition["isr"],
                removing_replicas=partition["removing"],
                adding_replicas=partition["adding"],
                leader=partition["leader"],
                leader_recovery_state=partition["recovery"],
                leader_epoch=partition["leader_epoch"],
                partition_epoch=partition["partition_epoch"],
                directories=directories,
                eligible_leader_replicas=elr or None,
                last_known_elr=last_known or None,
            )
        )
        partitions[str(len(partitions))] = partition

    def change_partition(self) -> None:
        topic_id, random = self._pick("topics"), self.random
        if topic_id is None:
            return
        partitions = self.model["topics"][topic_id]["partitions"]
        index = random.choice(sorted(partitions))
        partition = partitions[index]
        names = ["isr", "removing", "adding", *(["elr", "last_known_elr"] if self._has_elr else [])]
        changes: dict[str, Any] = {name: self._brokers() for name in names if random.random() < 0.4}
        if random.random() < 0.2:
            changes["replicas"] = self._brokers(least=1)
        replicas = changes.get("replicas", partition["replicas"])
        directories = None
        if "replicas" in changes or random.random() < 0.2:
            directories = [self._uuid() for _ in replicas]
            changes["directories"] = list(map(str, directories))
        recovery = random.choice((-1, -1, 0, 1))
        leader = random.choice((-2, -2, -1, *replicas))
        self.emit(
            PartitionChangeRecord(
                partition_id=int(index),
                topic_id=Uuid.parse(topic_id),
                isr=changes.get("isr"),
                leader=leader,
                replicas=changes.get("replicas"),
                removing_replicas=changes.get("removing"),
                adding_replicas=changes.get("adding"),
                leader_recovery_state=recovery,
                directories=directories,
                eligible_leader_replicas=changes.get("elr"),
                last_known_elr=changes.get("last_known_elr"),
            )
        )
        partition.update(changes)
        partition["partition_epoch"] += 1
        if leader != -2:
            partition["leader"] = leader
            partition["leader_epoch"] += 1
        if recovery != -1:
            partition["recovery"] = recovery

    def clear_elr(self) -> None:
        if not self.version.has_eligible_leader_replicas or self.random.random() < 0.7:
            return
        name = self.random.choice([None, self._pick("topic_ids")])
        self._clear(name)

    def _clear(self, name: str | None) -> None:
        """Of one topic, or of all."""
        self.emit(ClearElrRecord(topic_name=name or ""))
        for topic in self.model["topics"].values():
            if name in (None, topic["name"]):
                for partition in topic["partitions"].values():
                    if partition["elr"] or partition["last_known_elr"]:
                        partition.update(elr=[], last_known_elr=[])
                        partition["partition_epoch"] += 1

    def remove_topic(self) -> None:
        topic_id = self._pick("topics")
        if topic_id is None:
            return
        name = self.model["topics"].pop(topic_id)["name"]
        del self.model["topic_ids"][name]
        self.model["configs"].pop(f"2:{name}", None)
        self.emit(RemoveTopicRecord(topic_id=Uuid.parse(topic_id)))

    def set_config(self, resource: str | None = None) -> None:
        random = self.random
        if resource is None:
            topic = self._pick("topic_ids")
            resource = random.choice(["4:", "4:1", "16:metrics", "32:group", *([f"2:{topic}"] if topic else [])])
        kind, _, name = resource.partition(":")
        key, value = random.choice(("a.b", "min.insync.replicas", "x")), random.choice((None, "", "1", "é"))
        self.emit(ConfigRecord(resource_type=int(kind), resource_name=name, name=key, value=value))
        _set_inner(self.model["configs"], resource, key, value)

    def set_quota(self) -> None:
        random = self.random
        entity = random.choice(
            (
                {"user": "u"},
                {"user": None},
                {"client-id": "", "user": "u"},
                {"client-id": "c", "user": None},
                {"ip": "10.0.0.1"},
            )
        )
        key, value = random.choice(("producer_byte_rate", "request_percentage")), random.choice((0.0, 1.5, 1e9))
        is_removed = random.random() < 0.4
        parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
        random.shuffle(parts)
        self.emit(ClientQuotaRecord(entity=parts, key=key, value=value, remove=is_removed))
        text = ",".join(kind if name is None else f"{kind}:{name}" for kind, name in sorted(entity.items()))
        _set_inner(self.model["quotas"], text, key, None if is_removed else value)

    def give_producer_ids(self) -> None:
        self.model["next_producer_id"] = self._number() * 1000
        record = ProducerIdsRecord(broker_id=1, broker_epoch=2, next_producer_id=self.model["next_producer_id"])
        self.emit(record)

    def change_acl(self) -> None:
        entry_id, random = self._pick("acls"), self.random
        if entry_id is not None and random.random() < 0.4:
            del self.model["acls"][entry_id]
            self.emit(RemoveAccessControlEntryRecord(id=Uuid.parse(entry_id)))
            return
        added = self._uuid()
        values = {
            "resource_type": random.randint(2, 7),
            "resource_name": random.choice(("*", "topic-1")),
            "pattern_type": random.randint(3, 4),
            "principal": "User:alice",
            "host": "*",
            "operation": random.randint(2, 15),
            "permission_type": random.randint(2, 3),
        }
        self.emit(AccessControlEntryRecord(id=added, **values))  # type: ignore[arg-type]
        self.model["acls"][str(added)] = list(values.values())

    def change_scram(self) -> None:
        user, random = self._pick("scram"), self.random
        if user is not None and random.random() < 0.4:
            del self.model["scram"][user]
            mechanism, _, name = user.partition(":")
            self.emit(RemoveUserScramCredentialRecord(name=name, mechanism=int(mechanism)))
            return
        kind, name = random.randint(1, 2), random.choice(("alice", "bob"))
        salt, stored, server, iterations = (*(random.randbytes(4) for _ in range(3)), random.randint(4096, 16384))
        self.emit(
            UserScramCredentialRecord(
                name=name, mechanism=kind, salt=salt, stored_key=stored, server_key=server, iterations=iterations
            )
        )
        self.model["scram"][f"{kind}:{name}"] = [salt.hex(), stored.hex(), server.hex(), iterations]

    def change_token(self) -> None:
        token_id, random = self._pick("tokens"), self.random
        if token_id is not None and random.random() < 0.4:
            del self.model["tokens"][token_id]
            self.emit(RemoveDelegationTokenRecord(token_id=token_id))
            return
        token_id = random.choice(("t1", "t2", "t3"))
        renewers = ["User:bob", "User:carol"][: random.randint(0, 2)]
        times = [random.randint(0, 2**40) for _ in range(3)]
        self.model["tokens"][token_id] = ["User:alice", "User:bob", renewers, *times]
        self.emit(
            DelegationTokenRecord(
                owner="User:alice",
                requester="User:bob",
                renewers=renewers,
                issue_timestamp=times[0],
                max_timestamp=times[1],
                expiration_timestamp=times[2],
                token_id=token_id,
            )
        )

    def change_feature(self) -> None:
        random = self.random
        chance = random.random()
        if chance < 0.3:
            # Up to any level, and down where no metadata would be lost.
            reachable = [
                each for each in MetadataVersion if each > self.version or not is_metadata_changed(each, self.version)
            ]
            self.set_level("metadata.version", random.choice(reachable))
        elif chance < 0.4:
            self.emit(FeatureLevelRecord(name="kraft.version", feature_level=1))
        else:
            feature = random.choice([each for name, each in FEATURES.items() if name != "kraft.version"])
            level = random.randint(0, feature.supported.highest)
            if feature.name == ELR:
                if not self.version.has_eligible_leader_replicas:
                    return
                if level == 0:
                    # A snapshot would not have them any more.
                    self._clear(None)
            self.set_level(feature.name, level)

    def set_level(self, name: str, level: int) -> None:
        self.emit(FeatureLevelRecord(name=name, feature_level=level))
        self.model["features"].pop(name, None)
        if level:
            self.model["features"][name] = int(level)
        if name == "metadata.version":
            self.version = MetadataVersion.of_level(level)

    def say_nothing(self) -> None:
        self.emit(self.random.choice((NoOpRecord(), ZkMigrationStateRecord(zk_migration_state=0))))


def _set_inner(outer: dict[str, Any], resource: str, key: str, value: object) -> None:
    inner = outer.setdefault(resource, {})
    inner.pop(key, None)
    if value is not None:
        inner[key] = value
    if not inner:
        del outer[resource]


def _sorted_ids(ids: list[Uuid]) -> list[str]:
    """Kafka compares ids as pairs of signed numbers."""
    return [str(each) for each in sorted(ids, key=lambda each: unpack(">qq", each))]
