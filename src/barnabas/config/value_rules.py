"""The rules that tie one setting of a node to another: a value may be fine by itself and still not fit the others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from barnabas.config.server_config import ServerConfig
from barnabas.config.setting import ConfigError

MIB = 1024 * 1024
_HOST = re.compile(r"[0-9a-zA-Z\-%._:]*")
_NUMBER = re.compile(r"[+-]?[0-9]+")


def check_values(config: ServerConfig) -> None:
    """Raise ConfigError for the first rule that does not hold."""
    for lesser, greater in _in_order():
        if config.integer(lesser) > config.integer(greater):
            raise ConfigError(
                f"{lesser} ({config.integer(lesser)}) must be at most {greater} ({config.integer(greater)})"
            )
    for kind in ("consumer", "share", "streams"):
        heartbeat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
        if config.integer(heartbeat) == config.integer(session):
            raise ConfigError(f"{heartbeat} must be less than {session}")
    _check_log(config)
    _check_connections(config)
    if "classic" not in (word.lower() for word in config.words("group.coordinator.rebalance.protocols")):
        raise ConfigError("group.coordinator.rebalance.protocols must contain classic")
    if len(config.words("group.share.assignors")) != 1:
        raise ConfigError("group.share.assignors must contain exactly one assignor")


def _in_order() -> Iterator[tuple[str, str]]:
    """Pairs of settings of which the first is at most the second."""
    bounded = [
        f"group.{kind}.{{}}{knob}"
        for kind in ("consumer", "share", "streams")
        for knob in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")
    ]
    bounded += [
        f"group.share.{{}}{knob}"
        for knob in ("delivery.count.limit", "partition.max.record.locks", "record.lock.duration.ms")
    ]
    for each in bounded:
        yield each.format("min."), each.format("max.")
        yield each.format("min."), each.format("")
        yield each.format(""), each.format("max.")
    for kind in ("consumer", "share", "streams"):
        yield f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
    yield "group.streams.num.standby.replicas", "group.streams.max.standby.replicas"
    yield "group.share.max.size", "group.share.max.share.sessions"
    yield "replica.fetch.wait.max.ms", "replica.socket.timeout.ms"
    yield "replica.fetch.wait.max.ms", "replica.lag.time.max.ms"


def _check_log(config: ServerConfig) -> None:
    topics = config.topic_defaults()
    for name, broker_name, least in (("segment.ms", "log.roll.ms", 1), ("segment.jitter.ms", "log.roll.jitter.ms", 0)):
        value = topics[name]
        assert isinstance(value, int)
        if value < least:
            raise ConfigError(f"{broker_name} must be at least {least}")
    if topics["retention.ms"] == 0:
        raise ConfigError("log.retention.ms must be at least 1, or -1 for no limit")
    threads = config.integer("log.cleaner.threads")
    if threads and config.integer("log.cleaner.dedupe.buffer.size") // threads <= MIB:
        raise ConfigError("log.cleaner.dedupe.buffer.size must be more than 1 MiB for each of log.cleaner.threads")


def _check_connections(config: ServerConfig) -> None:
    queued, largest = config.integer("queued.max.request.bytes"), config.integer("socket.request.max.bytes")
    if 0 < queued < largest:
        raise ConfigError(f"queued.max.request.bytes must be at least socket.request.max.bytes ({largest})")
    overrides = parse_connection_overrides(config)
    if config.integer("max.connections.per.ip") == 0 and not overrides:
        raise ConfigError("max.connections.per.ip can be 0 only where max.connections.per.ip.overrides names addresses")
    idle_ms = config.integer("connections.max.idle.ms")
    if 0 <= idle_ms <= config.integer("connection.failed.authentication.delay.ms"):
        raise ConfigError(
            f"connection.failed.authentication.delay.ms must be less than connections.max.idle.ms ({idle_ms})"
        )


def parse_connection_overrides(config: ServerConfig) -> dict[str, int]:
    """How many connections each of the named addresses may hold."""
    name = "max.connections.per.ip.overrides"
    overrides = {}
    for entry in filter(None, re.split(r"\s*,\s*", config.text(name))):
        host, separator, count = entry.rpartition(":")
        if not separator or not _HOST.fullmatch(host.strip()) or not _NUMBER.fullmatch(count.strip()):
            raise ConfigError(f"{entry!r} in {name} is not of the form {{host}}:{{count}}")
        overrides[host.strip()] = int(count)
    return overrides
