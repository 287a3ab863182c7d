"""Settings of Kafka's Java clients as librdkafka takes them: names, values, and Java's defaults where they differ.

A setting that neither side knows is no error, as it is none in Java; it is told of. The same goes for settings that
name Java classes, and for those that tune what librdkafka does in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.cli.librdkafka.security import translate_security
from barnabas.config.setting import ConfigError

# What both know by the same name with the same meaning.
_SAME: Final = frozenset(
    {
        "acks",
        "allow.auto.create.topics",
        "auto.commit.interval.ms",
        "auto.offset.reset",
        "batch.size",
        "bootstrap.servers",
        "check.crcs",
        "client.dns.lookup",
        "client.id",
        "client.rack",
        "compression.type",
        "connections.max.idle.ms",
        "enable.auto.commit",
        "enable.idempotence",
        "enable.metrics.push",
        "fetch.max.bytes",
        "fetch.min.bytes",
        "group.id",
        "group.instance.id",
        "group.protocol",
        "group.remote.assignor",
        "heartbeat.interval.ms",
        "isolation.level",
        "linger.ms",
        "max.in.flight.requests.per.connection",
        "max.partition.fetch.bytes",
        "max.poll.interval.ms",
        "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "retries",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "session.timeout.ms",
        "socket.connection.setup.timeout.ms",
        "transaction.timeout.ms",
        "transactional.id",
    }
)
_RENAMED: Final = {
    "delivery.timeout.ms": "message.timeout.ms",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}
# What these tune, librdkafka does in its own way, or the tools here do themselves.
_UNNEEDED: Final = frozenset(
    {
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.zstd.level",
        "default.api.timeout.ms",
        "exclude.internal.topics",
        "internal.throw.on.fetch.stable.offset.unsupported",
        "key.deserializer",
        "key.serializer",
        "max.block.ms",
        "max.poll.records",
        "metadata.max.idle.ms",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.availability.timeout.ms",
        "share.acknowledgement.mode",
        "share.acquire.mode",
        "socket.connection.setup.timeout.max.ms",
        "transaction.two.phase.commit.enable",
        "value.deserializer",
        "value.serializer",
    }
)
_JAVA_CLASSES: Final = frozenset({"config.providers", "interceptor.classes", "metric.reporters", "partitioner.class"})

_ASSIGNORS: Final = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}
# What Java's clients do unless they are told otherwise, where librdkafka would do something else that shows.
_PRODUCER_DEFAULTS: Final = {
    "batch.size": "16384",
    "buffer.memory": "33554432",
    "delivery.timeout.ms": "120000",
    "max.in.flight.requests.per.connection": "5",
    "metadata.max.age.ms": "300000",
    "reconnect.backoff.max.ms": "1000",
}
_CONSUMER_DEFAULTS: Final = {
    "allow.auto.create.topics": "true",
    "auto.offset.reset": "latest",
    "isolation.level": "read_uncommitted",
    "metadata.max.age.ms": "300000",
    "reconnect.backoff.max.ms": "1000",
}
_SOCKET_TIMEOUT_MS: Final = range(10, 300_001)
_COMPRESSION_LEVEL_MAX: Final = 12


@dataclass(frozen=True)
class Translation:
    """What librdkafka is given, and a line for each setting that it is not given though somebody named it."""

    settings: dict[str, str]
    warnings: tuple[str, ...]


def producer_settings(properties: Mapping[str, str]) -> Translation:
    """The settings of a producer; ConfigError where one cannot be followed."""
    given = _PRODUCER_DEFAULTS | {name: value.strip() for name, value in properties.items()}
    if "transactional.id" in given and "delivery.timeout.ms" not in properties:
        # librdkafka wants a record to give up before its transaction does.
        given["delivery.timeout.ms"] = given.get("transaction.timeout.ms", "60000")
    settings, warnings = _translate(given)
    settings.setdefault("enable.idempotence", str(_can_be_idempotent(given)).lower())
    settings["partitioner"] = "random" if _is_true(given.get("partitioner.ignore.keys")) else "murmur2_random"
    settings["queue.buffering.max.kbytes"] = str(max(_number(given, "buffer.memory") // 1024, 1))
    settings["queue.buffering.max.messages"] = "0"  # Only the memory is limited.
    if "request.timeout.ms" in given:
        settings["request.timeout.ms"] = given["request.timeout.ms"]
    level = f"compression.{given.get('compression.type')}.level"
    if level in given:
        settings["compression.level"] = str(min(_number(given, level), _COMPRESSION_LEVEL_MAX))
    return Translation(settings, warnings)


def consumer_settings(properties: Mapping[str, str]) -> Translation:
    """The settings of a consumer; ConfigError where one cannot be followed."""
    given = _CONSUMER_DEFAULTS | {name: value.strip() for name, value in properties.items()}
    settings, warnings = _translate(given)
    if settings["auto.offset.reset"] == "none":
        settings["auto.offset.reset"] = "error"
    # By its own default it rests for a second whenever it is ahead of the application.
    settings["fetch.queue.backoff.ms"] = "5"
    if "partition.assignment.strategy" in given:
        names = [name.strip() for name in given["partition.assignment.strategy"].split(",")]
        # It cannot mix cooperative and eager assignors, of which Java takes the one that all members know.
        settings["partition.assignment.strategy"] = _ASSIGNORS.get(names[0], names[0])
    return Translation(settings, warnings)


def _translate(given: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    settings: dict[str, str] = {}
    warnings: list[str] = []
    security, is_security = translate_security(given)
    for name, value in given.items():
        if name in _SAME:
            settings[name] = value
        elif name in _RENAMED:
            settings[_RENAMED[name]] = value
        elif name in _JAVA_CLASSES and value:
            warnings.append(f"The configuration '{name}' names Java classes, which are not loaded here.")
        elif name not in _UNNEEDED | _HANDLED and not is_security(name):
            warnings.append(f"The configuration '{name}' was supplied but isn't a known config.")
    if "request.timeout.ms" in given:
        wanted = _number(given, "request.timeout.ms")
        settings["socket.timeout.ms"] = str(min(max(wanted, _SOCKET_TIMEOUT_MS[0]), _SOCKET_TIMEOUT_MS[-1]))
    return settings | security, tuple(warnings)


# Settings that are looked at by name, above.
_HANDLED: Final = (
    frozenset({"buffer.memory", "partitioner.ignore.keys", "partition.assignment.strategy", "request.timeout.ms"})
    | _JAVA_CLASSES
)


def _can_be_idempotent(given: Mapping[str, str]) -> bool:
    """A Java producer is idempotent unless it was told something that stands against it."""
    return (
        given.get("acks", "all") in ("all", "-1")
        and given.get("retries") != "0"
        and _number(given, "max.in.flight.requests.per.connection") <= 5
    )


def _is_true(text: str | None) -> bool:
    return text is not None and text.lower() == "true"


def _number(given: Mapping[str, str], name: str) -> int:
    try:
        return int(given[name])
    except ValueError:
        raise ConfigError(f"Invalid value {given[name]} for configuration {name}: Not a number") from None
