"""Makes topics that clients ask for and that are not there (auto.create.topics.enable).

The controller is asked in the client's name, in the background; the client is told to ask again. A topic that is
being made is not asked for a second time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from barnabas.broker.call import Call
from barnabas.broker.forwarding import Forwarding
from barnabas.config.server_config import ServerConfig
from barnabas.config.setting import Value
from barnabas.controller.errors import InvalidTopic
from barnabas.controller.topic_names import check_topic_name
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.request_header import RequestHeader

LOG: Final = logging.getLogger(__name__)

# The controller's own setting decides.
UNSPECIFIED: Final = -1
VERSION: Final = APIS[ApiKey.CREATE_TOPICS].versions[-1]


class TopicCreation:
    """`settings` are this broker's as they are now."""

    def __init__(
        self,
        forwarding: Forwarding,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        settings: Callable[[], ServerConfig],
    ) -> None:
        self._forwarding = forwarding
        self._spawn = spawn
        self._settings = settings
        self._in_flight: set[str] = set()

    def __call__(self, names: list[str], call: Call) -> Mapping[str, ErrorCode]:
        """Have topics made; what to answer for each of them now."""
        codes, wanted = {}, []
        for name in names:
            codes[name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            try:
                check_topic_name(name)
            except InvalidTopic as error:
                codes[name] = error.code
                continue
            if name not in self._in_flight:
                self._in_flight.add(name)
                wanted.append(name)
        if wanted:
            self._spawn(self._create(wanted, call))
        return codes

    async def _create(self, names: list[str], call: Call) -> None:
        settings = self._settings()
        request = CreateTopicsRequest(
            topics=[self._topic(name, settings) for name in names],
            timeout_ms=settings.integer("request.timeout.ms"),
        )
        header = RequestHeader(
            request_api_key=ApiKey.CREATE_TOPICS,
            request_api_version=VERSION,
            correlation_id=call.header.correlation_id,
            client_id=call.header.client_id,
        )
        try:
            response: CreateTopicsResponse = await self._forwarding.forward(
                request, Call(header, VERSION, call.client, call.now_ms)
            )
        except Exception as error:
            LOG.warning("topics not made on demand", extra={"topics": names, "reason": str(error)})
            return
        finally:
            self._in_flight.difference_update(names)
        for result in response.topics:
            if result.error_code != ErrorCode.NONE:
                code = ErrorCode(result.error_code)
                reason = result.error_message or code.message
                LOG.warning("topic not made on demand", extra={"topic": result.name, "reason": reason})

    @staticmethod
    def _topic(name: str, settings: ServerConfig) -> CreatableTopic:
        def given(setting: str) -> int:
            return settings.integer(setting) if setting in settings.given else UNSPECIFIED

        own = _INTERNAL.get(name)
        if own is None:
            return CreatableTopic(
                name=name,
                num_partitions=given("num.partitions"),
                replication_factor=given("default.replication.factor"),
                assignments=[],
                configs=[],
            )
        partitions, replicas, configs = own
        return CreatableTopic(
            name=name,
            num_partitions=settings.integer(partitions),
            replication_factor=settings.integer(replicas),
            assignments=[],
            configs=[CreatableTopicConfig(name=each, value=_text(settings, value)) for each, value in configs.items()],
        )


def _text(settings: ServerConfig, value: str) -> str:
    """A fixed value, or that of a setting of the broker."""
    found: Value = settings.values.get(value, value)
    return str(found)


# The topics of the coordinators: the settings that size them, and what theirs are.
_INTERNAL: Final[Mapping[str, tuple[str, str, Mapping[str, str]]]] = {
    "__consumer_offsets": (
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        {
            "cleanup.policy": "compact",
            "segment.bytes": "offsets.topic.segment.bytes",
            "compression.type": "producer",
        },
    ),
    "__transaction_state": (
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        {
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": "transaction.state.log.min.isr",
            "segment.bytes": "transaction.state.log.segment.bytes",
            "unclean.leader.election.enable": "false",
        },
    ),
    "__share_group_state": (
        "share.coordinator.state.topic.num.partitions",
        "share.coordinator.state.topic.replication.factor",
        {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "segment.bytes": "share.coordinator.state.topic.segment.bytes",
            "min.insync.replicas": "share.coordinator.state.topic.min.isr",
            "retention.ms": "-1",
        },
    ),
}
