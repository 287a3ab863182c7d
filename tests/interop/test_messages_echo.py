"""Apache Kafka's own classes read every message that we write, and write back the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from random import Random

import pytest

from barnabas.protocol.codec import decode, encode
from barnabas.protocol.json_form import from_json, json_text, to_json
from barnabas.protocol.schema import EncodeError, Message, ProtocolError
from declared_messages import PACKAGES, RandomMessages, blank, messages_of
from interop.referee import PROGRAMS, JvmProcess

pytestmark = pytest.mark.referee

MESSAGES_A_VERSION_MIN = 8
# Most records have one version, and with it only as many messages to show all their forms in.
MESSAGES_A_CLASS_MIN = 48
JSON_MESSAGES_A_VERSION = 4
DAMAGED_MESSAGES_A_VERSION = 8

# Where Kafka keeps the classes that its build makes of the schemas.
JAVA_PACKAGES = {
    "messages": "org.apache.kafka.common.message",
    "embedded": "org.apache.kafka.common.message",
    "control_records": "org.apache.kafka.common.message",
    "metadata_records": "org.apache.kafka.common.metadata",
    "group_records": "org.apache.kafka.coordinator.group.generated",
    "transaction_records": "org.apache.kafka.coordinator.transaction.generated",
    "share_records": "org.apache.kafka.coordinator.share.generated",
    "remote_log_records": "org.apache.kafka.server.log.remote.metadata.storage.generated",
    "files": "org.apache.kafka.server.log.remote.metadata.storage.generated",
}
ELSEWHERE = {"QuorumStateData": "org.apache.kafka.raft.generated.QuorumStateData"}


@pytest.fixture(scope="module")
def echo() -> Iterator[JvmProcess]:
    with closing(JvmProcess(PROGRAMS / "Echo.java")) as running:
        yield running


def java_class(cls: type[Message]) -> str:
    package = cls.__module__.split(".")[2]
    ending = "Data" if cls.__name__.endswith(("Request", "Response", "Header")) else ""
    return ELSEWHERE.get(cls.__name__, f"{JAVA_PACKAGES[package]}.{cls.__name__}{ending}")


def referee_name(cls: type[Message]) -> str:
    """How the referee finds the class: the messages of an API by its number, all others by name."""
    if cls.__name__.endswith("Request"):
        return f"request {cls.api_key}"
    if cls.__name__.endswith("Response"):
        return f"response {cls.api_key}"
    return f"class {java_class(cls)}"


def disagreements(echo: JvmProcess, expected: list[tuple[str, str]]) -> list[str]:
    """The questions that the referee answers otherwise than we do; a refusal is one, whatever its words."""
    answers = echo.exchange(question for question, _ in expected)
    return [
        f"{question}\n  ours   {ours}\n  theirs {theirs}"
        for (question, ours), theirs in zip(expected, answers, strict=True)
        if theirs.split(":")[0] != ours
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_random_messages_of_every_version_come_back_byte_for_byte(echo: JvmProcess, package: str) -> None:
    source = RandomMessages(seed=20_431)
    expected = []
    for cls in messages_of(package):
        for version in cls.valid_versions:
            for _ in range(max(MESSAGES_A_VERSION_MIN, MESSAGES_A_CLASS_MIN // len(cls.valid_versions))):
                message = source.message(cls, version)
                ours = encode(message, version)
                assert decode(cls, version, ours) == message
                expected.append((f"{referee_name(cls)} {version} {ours.hex()}", ours.hex()))
    assert expected
    assert disagreements(echo, expected) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_fields_left_alone_have_the_same_defaults(echo: JvmProcess, package: str) -> None:
    expected = [
        (f"{referee_name(cls)} {version}", written(blank(cls), version))
        for cls in messages_of(package)
        for version in cls.valid_versions
    ]
    assert disagreements(echo, expected) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_message_carried_into_another_version_is_the_same_or_refused_alike(echo: JvmProcess, package: str) -> None:
    """Shows the defaults of fields that a version lacks, and which fields a version may drop."""
    source = RandomMessages(seed=43)
    expected = []
    for cls in messages_of(package):
        for old in cls.valid_versions:
            for new in cls.valid_versions:
                ours = encode(source.message(cls, old), old)
                question = f"{referee_name(cls)} {old}>{new} {ours.hex()}"
                expected.append((question, written(decode(cls, old, ours), new)))
    assert disagreements(echo, expected) == []


def written(message: Message, version: int) -> str:
    try:
        return encode(message, version).hex()
    except EncodeError:
        return "refused"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_json_of_every_message_is_kafkas(echo: JvmProcess, package: str) -> None:
    source = RandomMessages(seed=8_259)
    cases = [
        (cls, version, source.message(cls, version))
        for cls in messages_of(package)
        for version in cls.valid_versions
        for _ in range(JSON_MESSAGES_A_VERSION)
    ]
    questions = [
        f"json {java_class(cls)} {version} {encode(message, version).hex()}" for cls, version, message in cases
    ]
    # All answers are taken before any is judged: the other tests talk to the same referee.
    for (cls, version, message), theirs in zip(cases, list(echo.exchange(questions)), strict=True):
        assert json_text(to_json(message, version)) == theirs
        # Kafka itself reads neither of these back: it writes records as their size, and infinity as text.
        if "SizeInBytes" not in theirs and '"Infinity"' not in theirs:
            assert json_text(to_json(from_json(cls, version, json.loads(theirs)), version)) == theirs


@pytest.mark.parametrize("package", PACKAGES)
def test_damaged_bytes_are_read_alike_or_refused(echo: JvmProcess, package: str) -> None:
    """We may be stricter than Kafka, as with text that is not UTF-8, but never accept what it refuses."""
    random, source = Random(6), RandomMessages(seed=6)
    expected = []
    for cls in messages_of(package):
        for version in [each for each in cls.valid_versions for _ in range(DAMAGED_MESSAGES_A_VERSION)]:
            damaged = encode(source.message(cls, version), version) or bytearray(1)
            damaged[random.randrange(len(damaged))] = random.choice((0, 1, 2, 127, 128, 255, random.randrange(256)))
            del damaged[random.choice((len(damaged), random.randint(0, len(damaged)))) :]
            try:
                ours = encode(decode(cls, version, damaged), version).hex()
            except ProtocolError:
                continue
            expected.append((f"{referee_name(cls)} {version} {damaged.hex()}", ours))
    assert expected
    assert disagreements(echo, expected) == []


def test_the_referee_refuses_bytes_behind_a_message(echo: JvmProcess) -> None:
    assert echo.ask("request 18 0 00").startswith("refused")
    assert echo.ask("request 18 0 ") == ""
