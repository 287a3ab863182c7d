"""Any request, in any version, gets an answer that the version carries, and leaves metadata that holds together.

Fields are drawn from what would mean something here, so that requests get past their first check.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from barnabas.controller.operations import OPERATIONS, QUERIES
from barnabas.protocol.codec import encode
from barnabas.protocol.messages import RESPONSES
from barnabas.protocol.schema import (
    ZERO_UUID,
    ArrayOf,
    FieldSpec,
    FieldType,
    Message,
    Primitive,
    Struct,
    field_specs,
)
from unit.controller.controlled_cluster import CLUSTER_ID, ControlledCluster, directory, incarnation
from unit.controller.requests import create_topic

REQUESTS = [*OPERATIONS, *QUERIES]
TEXTS = [
    "",
    "t",
    "u",
    "x.y",
    "1",
    "user",
    "client-id",
    "ip",
    "User",
    "User:ada",
    "kafka-cluster",
    "metadata.version",
    "eligible.leader.replicas.version",
    "kraft.version",
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "cleanup.policy",
    "producer_byte_rate",
    "true",
    "2",
    CLUSTER_ID,
]
NUMBERS = [-2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 8, 16, 32, 100, 30_000]


class Drawer:
    """Draws messages from a seed, in the terms of one cluster."""

    def __init__(self, cluster: ControlledCluster, seed: int) -> None:
        self._cluster = cluster
        self._rng = Random(seed)

    def message(self, cls: type[Struct], version: int) -> Any:
        values = {spec.name: self._value(spec, version) for spec in field_specs(cls) if spec.is_present(version)}
        return cls(**values)

    def _value(self, spec: FieldSpec, version: int) -> Any:
        if spec.is_nullable(version) and self._rng.random() < 0.2:
            return None
        if spec.name == "cluster_id":
            return CLUSTER_ID
        if spec.name == "broker_epoch" and self._rng.random() < 0.8:
            return self._cluster.epochs[self._rng.choice((1, 2, 3))]
        return self._typed(spec.type, version)

    def _typed(self, kind: FieldType, version: int) -> Any:
        rng = self._rng
        if isinstance(kind, ArrayOf):
            return [self._typed(kind.element, version) for _ in range(rng.randrange(4))]
        if not isinstance(kind, Primitive):
            return self.message(kind, version)
        match kind.name:
            case "bool":
                return rng.random() < 0.3
            case "string":
                return rng.choice(TEXTS)
            case "bytes":
                return rng.randbytes(rng.randrange(4))
            case "float64":
                return rng.choice([-1.0, 0.0, 1.0, 2.5, float("inf"), float("nan")])
            case "uuid":
                topic_ids = list(self._cluster.image.topics.by_id)
                return rng.choice([ZERO_UUID, directory(1), directory(2), incarnation(1), *topic_ids])
            case "uint16":
                return rng.randrange(2**16)
            case "int8":
                return rng.choice([number for number in NUMBERS if number < 128])
            case _:
                return rng.choice(NUMBERS)


@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda cls: cls.__name__)
def test_any_request_is_answered(request_type: type[Message]) -> None:
    assert request_type.api_key is not None
    response_type = RESPONSES[request_type.api_key]
    for version in request_type.valid_versions:
        cluster = ControlledCluster(
            has_elr=version % 2 == 0,
            delegation_token_secret_key="secret",
            static_configs={"authorizer.class.name": "StandardAuthorizer"},
        )
        cluster.start_brokers(1, 2, 3, directories=2)
        create_topic(cluster, "t", [[1, 2], [2, 3], [3, 1]])
        create_topic(cluster, "u", [[1], [2]], configs={"unclean.leader.election.enable": "true"})
        cluster.fence(3)
        drawer = Drawer(cluster, seed=version)
        for _ in range(30):
            request = drawer.message(request_type, version)
            response = cluster.ask(request, response_type, version=version, principal="User:ada", listener="t")
            encode(response, version)


def test_every_request_is_decided_on_or_looked_up_but_not_both() -> None:
    assert not OPERATIONS.keys() & QUERIES.keys()


@pytest.mark.parametrize("request_type", OPERATIONS, ids=lambda cls: cls.__name__)
def test_whoever_is_not_active_answers_every_request(request_type: type[Message]) -> None:
    cluster = ControlledCluster(is_leading=False)
    cluster.epochs = {1: 1, 2: 2, 3: 3}
    assert request_type.api_key is not None
    for version in request_type.valid_versions:
        request = Drawer(cluster, seed=version).message(request_type, version)
        response = cluster.ask(request, RESPONSES[request_type.api_key], version=version)
        encode(response, version)
