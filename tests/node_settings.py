"""Settings of nodes that stand for their roles, and changes of them that no node takes, ours or Apache's."""

from __future__ import annotations

COMBINED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "log.dirs": "/data/a,/data/b",
}
CONTROLLER = COMBINED | {"process.roles": "controller", "listeners": "CONTROLLER://:9093"}
BROKER = COMBINED | {"process.roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}

# Settings, what is changed in them, the setting that a refusal names, and what it says of it.
REFUSED: list[tuple[dict[str, str], dict[str, str], str, str]] = [
    (COMBINED, {"broker.id": "2"}, "node.id", "the same"),
    (COMBINED, {"controller.quorum.bootstrap.servers": ""}, "controller.quorum.voters", "where the controllers"),
    (COMBINED, {"controller.quorum.voters": "2@h:1"}, "controller.quorum.voters", "must contain node 1"),
    (COMBINED, {"controller.quorum.voters": "1:h:1"}, "controller.quorum.voters", "{id}@{host}:{port}"),
    (COMBINED, {"controller.listener.names": "CONTROLLER,OTHER"}, "controller.listener.names", "names of listeners"),
    (COMBINED, {"controller.listener.names": "CONTROLLER,PLAINTEXT"}, "advertised.listeners", "perhaps all"),
    (COMBINED, {"inter.broker.listener.name": "CONTROLLER"}, "inter.broker.listener.name", "PLAINTEXT"),
    (COMBINED, {"inter.broker.listener.name": "NONE"}, "listener.security.protocol.map", "NONE"),
    (
        COMBINED,
        {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"},
        "inter.broker.listener.name",
        "Only one",
    ),
    (COMBINED, {"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "advertised.listeners", "0.0.0.0"),
    (
        COMBINED,
        {"advertised.listeners": "CONTROLLER://0.0.0.0:1,PLAINTEXT://h:1"},
        "advertised.listeners",
        "0.0.0.0",
    ),
    (COMBINED, {"advertised.listeners": "PLAINTEXT://h:1,SSL://h:2"}, "advertised.listeners", "names of listeners"),
    (COMBINED, {"listeners": "PLAINTEXT://0.0.0.0:1,CONTROLLER://:2"}, "advertised.listeners", "0.0.0.0"),
    (COMBINED, {"cordoned.log.dirs": "/data/c"}, "cordoned.log.dirs", "/data/a, /data/b"),
    (COMBINED, {"cordoned.log.dirs": "*,/data/a"}, "cordoned.log.dirs", "* alone"),
    (COMBINED, {"early.start.listeners": "SSL"}, "early.start.listeners", "CONTROLLER, PLAINTEXT"),
    (
        COMBINED,
        {
            "security.inter.broker.protocol": "SASL_PLAINTEXT",
            "listeners": "SASL_PLAINTEXT://h:1,CONTROLLER://h:2",
            "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
        },
        "sasl.mechanism.inter.broker.protocol",
        "sasl.enabled.mechanisms",
    ),
    (CONTROLLER, {"listeners": "CONTROLLER://:1,PLAINTEXT://:2"}, "listeners", "PLAINTEXT is no such one"),
    (CONTROLLER, {"inter.broker.listener.name": "CONTROLLER"}, "controller.listener.names", "must not contain"),
    (BROKER, {"controller.quorum.voters": "1@h:1"}, "controller.quorum.voters", "must not contain node 1"),
    (BROKER, {"controller.listener.names": "PLAINTEXT"}, "controller.listener.names", "must not contain a name"),
    (BROKER, {"listener.security.protocol.map": "PLAINTEXT:SSL"}, "listener.security.protocol.map", "CONTROLLER"),
    (BROKER, {"controller.quorum.auto.join.enable": "true"}, "controller.quorum.auto.join.enable", "controller"),
    (BROKER, {"log.roll.ms": "0"}, "log.roll.ms", "at least 1"),
    (BROKER, {"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms", "at least 0"),
    (BROKER, {"log.retention.minutes": "0"}, "log.retention.ms", "no limit"),
    (BROKER, {"log.cleaner.threads": "128"}, "log.cleaner.dedupe.buffer.size", "1 MiB"),
    (BROKER, {"replica.fetch.wait.max.ms": "30001"}, "replica.fetch.wait.max.ms", "at most"),
    (BROKER, {"queued.max.request.bytes": "1"}, "queued.max.request.bytes", "socket.request.max.bytes"),
    (BROKER, {"max.connections.per.ip": "0"}, "max.connections.per.ip", "overrides"),
    (BROKER, {"max.connections.per.ip.overrides": "a b:1"}, "max.connections.per.ip.overrides", "{host}:{count}"),
    (BROKER, {"connections.max.idle.ms": "100"}, "connection.failed.authentication.delay.ms", "less than"),
    (BROKER, {"group.consumer.session.timeout.ms": "61000"}, "group.consumer.max.session.timeout.ms", "at most"),
    (BROKER, {"group.share.min.heartbeat.interval.ms": "5001"}, "group.share.heartbeat.interval.ms", "at most"),
    (BROKER, {"group.streams.num.standby.replicas": "3"}, "group.streams.max.standby.replicas", "at most"),
    (BROKER, {"group.share.max.share.sessions": "1"}, "group.share.max.size", "at most"),
    (
        BROKER,
        {"group.share.delivery.count.limit": "10", "group.share.max.delivery.count.limit": "9"},
        "group.share.delivery.count.limit",
        "at most",
    ),
    (
        BROKER,
        {"group.coordinator.rebalance.protocols": "consumer"},
        "group.coordinator.rebalance.protocols",
        "classic",
    ),
    (BROKER, {"group.share.assignors": "a,b"}, "group.share.assignors", "exactly one"),
    (
        BROKER,
        {"group.consumer.max.heartbeat.interval.ms": "45000", "group.consumer.heartbeat.interval.ms": "45000"},
        "group.consumer.heartbeat.interval.ms",
        "less than",
    ),
]
