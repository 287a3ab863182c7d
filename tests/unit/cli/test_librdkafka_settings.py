"""Settings of Java's clients reach librdkafka by its names, with Java's defaults, and strange ones are told of."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Producer

from barnabas.cli.librdkafka.settings import consumer_settings, producer_settings
from barnabas.config.setting import ConfigError


def test_names_that_differ_are_translated() -> None:
    settings = producer_settings(
        {
            "delivery.timeout.ms": "5000",
            "max.request.size": "2000000",
            "request.timeout.ms": " 1500 ",
            "buffer.memory": "1048576",
            "send.buffer.bytes": "1000",
            "linger.ms": "7",
        }
    ).settings
    assert settings["message.timeout.ms"] == "5000"
    assert settings["message.max.bytes"] == "2000000"
    assert settings["request.timeout.ms"] == settings["socket.timeout.ms"] == "1500"
    assert settings["queue.buffering.max.kbytes"] == "1024"
    assert settings["socket.send.buffer.bytes"] == "1000"
    assert settings["linger.ms"] == "7"
    assert consumer_settings({"fetch.max.wait.ms": "9"}).settings["fetch.wait.max.ms"] == "9"


@pytest.mark.parametrize(
    ("properties", "is_idempotent"),
    [
        ({}, "true"),
        ({"acks": "-1"}, "true"),
        ({"acks": "1"}, "false"),
        ({"retries": "0"}, "false"),
        ({"max.in.flight.requests.per.connection": "6"}, "false"),
        ({"acks": "all", "enable.idempotence": "false"}, "false"),
    ],
)
def test_a_producer_is_idempotent_unless_something_stands_against_it(
    properties: dict[str, str], is_idempotent: str
) -> None:
    assert producer_settings(properties).settings["enable.idempotence"] == is_idempotent


def test_records_go_to_the_partitions_that_java_chooses() -> None:
    assert producer_settings({}).settings["partitioner"] == "murmur2_random"
    assert producer_settings({"partitioner.ignore.keys": "true"}).settings["partitioner"] == "random"


def test_a_record_gives_up_before_its_transaction() -> None:
    settings = producer_settings({"transactional.id": "t", "transaction.timeout.ms": "4000"}).settings
    assert settings["message.timeout.ms"] == "4000"


@pytest.mark.parametrize(
    ("properties", "level"),
    [
        ({"compression.type": "gzip", "compression.gzip.level": "3"}, "3"),
        ({"compression.type": "lz4", "compression.lz4.level": "17"}, "12"),
        ({"compression.type": "gzip", "compression.lz4.level": "3"}, None),
    ],
)
def test_a_level_of_compression_counts_for_its_codec(properties: dict[str, str], level: str | None) -> None:
    assert producer_settings(properties).settings.get("compression.level") == level


def test_a_consumer_sees_what_javas_would() -> None:
    settings = consumer_settings({"auto.offset.reset": "none"}).settings
    assert settings["isolation.level"] == "read_uncommitted"
    assert settings["allow.auto.create.topics"] == "true"
    assert settings["auto.offset.reset"] == "error"
    strategy = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor, range"
    assert (
        consumer_settings({"partition.assignment.strategy": strategy}).settings["partition.assignment.strategy"]
        == "cooperative-sticky"
    )


def test_what_nobody_knows_is_told_of_and_left_out() -> None:
    translation = producer_settings({"foo": "bar", "interceptor.classes": "a.B", "max.block.ms": "5"})
    assert translation.warnings == (
        "The configuration 'foo' was supplied but isn't a known config.",
        "The configuration 'interceptor.classes' names Java classes, which are not loaded here.",
    )
    assert not {"foo", "interceptor.classes", "max.block.ms"} & set(translation.settings)


def test_a_number_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value x for configuration buffer\.memory"):
        producer_settings({"buffer.memory": "x"})


def test_librdkafka_takes_all_of_it() -> None:
    common = {"bootstrap.servers": "127.0.0.1:1", "client.id": "c", "log_level": "0", "retry.backoff.ms": "100"}
    Producer({**producer_settings(common).settings, "log_level": "0"})
    consumer = Consumer({**consumer_settings({**common, "group.id": "g"}).settings, "log_level": "0"})
    consumer.close()


# Security


def test_a_user_and_a_password_are_found_in_a_jaas_entry() -> None:
    settings = producer_settings(
        {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required\n"
            'username="alice" password="a \\"quoted\\" ; one";',
            "ssl.endpoint.identification.algorithm": "",
        }
    ).settings
    assert settings["sasl.username"] == "alice"
    assert settings["sasl.password"] == 'a "quoted" ; one'
    assert settings["sasl.mechanism"] == "SCRAM-SHA-512"
    assert settings["ssl.endpoint.identification.algorithm"] == "none"


def test_key_stores_are_taken_in_the_formats_that_can_be_read() -> None:
    pem = {"ssl.keystore.type": "PEM", "ssl.keystore.location": "k", "ssl.truststore.type": "pem"}
    settings = consumer_settings(pem | {"ssl.truststore.location": "t", "ssl.cipher.suites": "A,B"}).settings
    assert settings["ssl.certificate.location"] == settings["ssl.key.location"] == "k"
    assert settings["ssl.ca.location"] == "t"
    assert settings["ssl.cipher.suites"] == "A:B"
    store = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "k", "ssl.keystore.password": "p"}
    assert consumer_settings(store).settings["ssl.keystore.location"] == "k"


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"ssl.keystore.location": "k.jks"}, "ssl.keystore.location: k.jks is in Java's own format"),
        ({"ssl.truststore.location": "t.jks"}, "ssl.truststore.location: t.jks is in Java's own format"),
        (
            {"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;"},
            "sasl.jaas.config: only a login",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_advice(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        producer_settings(properties)
