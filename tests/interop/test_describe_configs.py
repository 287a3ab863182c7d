"""DescribeConfigs: what Apache's node tells of itself, of all brokers, of a topic, a group and client metrics, we tell.

The same properties and the same changes of settings are given to both; every value, source, synonym, type and flag has
to be the same. Documentation is in our own words, and at least wherever Apache has some.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from barnabas.broker.call import Call, Client
from barnabas.broker.handlers.describe_configs import DescribeConfigs
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.config.server_config import parse_server_config
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage
from barnabas.protocol.api import ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.protocol.metadata_records.config import ConfigRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.runtime.peer import Peer
from barnabas.security.authorizer import UNRESTRICTED
from interop.apache_broker import ApacheBroker

pytestmark = pytest.mark.referee

TIMEOUT_MS = 10_000
TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
STATIC = {
    "log.retention.hours": "48",
    "log.roll.hours": "24",
    "log.segment.bytes": "2097152",
    "ssl.keystore.password": "secret",
    "listener.name.broker.ssl.key.password": "hidden",
    "listener.name.broker.max.connections": "77",
    "some.unknown.setting": "kept",
    "group.consumer.session.timeout.ms": "46000",
    "compression.type": "lz4",
}
CHANGES: dict[tuple[int, str], dict[str, str]] = {
    (BROKER, ""): {
        "log.retention.ms": "3600000",
        "log.cleaner.threads": "1",
        "message.max.bytes": "2000000",
        "min.insync.replicas": "1",
    },
    (BROKER, "1"): {
        "log.roll.ms": "7200000",
        "message.max.bytes": "3000000",
        "leader.replication.throttled.rate": "1000",
        "listener.name.broker.max.connection.creation.rate": "50",
    },
    (TOPIC, "altered"): {"retention.ms": "1000000", "cleanup.policy": "compact,delete", "max.message.bytes": "5000"},
    (GROUP, "altered"): {"consumer.session.timeout.ms": "50000", "share.isolation.level": "read_committed"},
    (CLIENT_METRICS, "altered"): {"interval.ms": "1000", "metrics": "a.,b."},
}
ASKED = [*CHANGES, (TOPIC, "plain"), (GROUP, "plain"), (CLIENT_METRICS, "plain")]
REFUSED = [(TOPIC, "absent"), (TOPIC, "no/topic"), (BROKER, "2"), (BROKER, "one"), (BROKER_LOGGER, ""), (GROUP, "")]


@dataclass
class Apache:
    node: ApacheBroker

    def ask(self, *requests: Message) -> list[Any]:
        return asyncio.run(self._ask(requests))

    async def _ask(self, requests: tuple[Message, ...]) -> list[Any]:
        host, _, port = self.node.bootstrap_servers.partition(":")
        peer = await Peer.connect(host, int(port), timeout_ms=TIMEOUT_MS)
        try:
            await peer.negotiate(TIMEOUT_MS)
            return [await peer.send(request, peer.newest_version(type(request)), TIMEOUT_MS) for request in requests]
        finally:
            peer.close("answered")


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apache]:
    node = ApacheBroker(tmp_path_factory.mktemp("described"), STATIC)
    with node:
        running = Apache(node)
        topics = [
            CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
            for name in ("plain", "altered")
        ]
        resources = [
            AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[AlterableConfig(name=key, value=value, config_operation=0) for key, value in configs.items()],
            )
            for (kind, name), configs in CHANGES.items()
        ]
        running.ask(CreateTopicsRequest(topics=topics))
        (altered,) = running.ask(IncrementalAlterConfigsRequest(resources=resources, validate_only=False))
        assert {each.error_code for each in altered.responses} == {0}, altered
        deadline_s = time.monotonic() + 30
        while not _has_followed(running):
            assert time.monotonic() < deadline_s, "the node did not follow the changes"
        yield running


def _has_followed(apache: Apache) -> bool:
    (response,) = apache.ask(describe([(BROKER, "1")]))
    values = {each.name: each.value for each in response.results[0].configs}
    return values["message.max.bytes"] == "3000000" and values.get("log.cleaner.threads") == "1"


def describe(asked: list[tuple[int, str]], keys: list[str] | None = None) -> DescribeConfigsRequest:
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            for kind, name in asked
        ],
        include_synonyms=True,
        include_documentation=True,
    )


def image() -> MetadataImage:
    """What the changes come to in our metadata."""
    delta = MetadataDelta(EMPTY_IMAGE)
    for number, name in enumerate(("plain", "altered"), 1):
        delta.replay(TopicRecord(name=name, topic_id=Uuid(number.to_bytes(16, "big"))))
    for (kind, name), configs in CHANGES.items():
        for key, value in configs.items():
            delta.replay(ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value))
    return delta.apply(EMPTY_IMAGE.provenance)


def ask_us(apache: Apache, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    static = parse_server_config(apache.node.settings).given
    ours = DescribeConfigs(BrokerConfigs(1, static), image=image, access=lambda _: UNRESTRICTED, loggers=dict)
    header = RequestHeader(
        request_api_key=ApiKey.DESCRIBE_CONFIGS, request_api_version=4, correlation_id=1, client_id=None
    )
    return ours.handle(request, Call(header, 4, Client("c", "127.0.0.1", 1, "BROKER"), 0))


def facts(result: DescribeConfigsResult) -> dict[str, Any]:
    return {
        each.name: {
            "value": each.value,
            "source": each.config_source,
            "is_sensitive": each.is_sensitive,
            "read_only": each.read_only,
            "type": each.config_type,
            "synonyms": [(synonym.name, synonym.value, synonym.source) for synonym in each.synonyms],
            "is_documented": bool(each.documentation),
        }
        for each in result.configs
    }


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_every_setting_is_described_as_apache_describes_it(apache: Apache, asked: tuple[int, str]) -> None:
    request = describe([asked])
    (theirs,) = apache.ask(request)[0].results
    (ours,) = ask_us(apache, request).results
    assert (theirs.error_code, ours.error_code) == (0, 0)
    expected, described = facts(theirs), facts(ours)
    assert described.keys() == expected.keys()
    different = [
        (name, fact, described[name][fact], expected[name][fact])
        for name in expected
        for fact in expected[name]
        if described[name][fact] != expected[name][fact] and (fact != "is_documented" or expected[name][fact])
    ]
    assert different == []


def test_only_the_names_that_are_asked_for_are_told(apache: Apache) -> None:
    request = describe([(BROKER, "1"), (TOPIC, "plain")], ["message.max.bytes", "retention.ms", "unheard.of"])
    for theirs, ours in zip(apache.ask(request)[0].results, ask_us(apache, request).results, strict=True):
        assert facts(ours) == facts(theirs)
        assert len(ours.configs) == 1


@pytest.mark.parametrize("asked", REFUSED, ids=str)
def test_what_cannot_be_described_is_refused_with_the_same_code(apache: Apache, asked: tuple[int, str]) -> None:
    request = describe([asked])
    (theirs,), (ours,) = apache.ask(request)[0].results, ask_us(apache, request).results
    assert theirs.error_code != ErrorCode.NONE
    assert ours.error_code == theirs.error_code


def test_a_type_of_resource_that_does_not_exist_costs_the_whole_request(apache: Apache) -> None:
    request = describe([(TOPIC, "plain"), (3, "x")])
    theirs, ours = apache.ask(request)[0].results, ask_us(apache, request).results
    assert [each.error_code for each in ours] == [each.error_code for each in theirs]
