"""kcat, which is librdkafka as Debian has it, takes our broker for Kafka."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from interop.clients.client import CODECS, LIMIT_S
from interop.clients.librdkafka import Librdkafka
from interop.clients.programs import kcat as kcat_program
from interop.our_broker import OurBroker

pytestmark = pytest.mark.clients

LINES = "key:value\n:empty key\nempty value:\n" + f"long:{'again and again ' * 500}\n"


class Kcat:
    def __init__(self, bootstrap_servers: str) -> None:
        self._program, environment = kcat_program()
        self._environment = {**os.environ, **environment}
        self._servers = bootstrap_servers

    def run(self, *words: str, stdin: str = "") -> str:
        done = subprocess.run(
            [self._program, "-b", self._servers, *words],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=self._environment,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def records(self, topic: str, *words: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run("-C", "-t", topic, "-e", "-q", "-J", *words).splitlines()]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    with OurBroker(tmp_path_factory.mktemp("kcat")) as running:
        yield running


@pytest.fixture(scope="module")
def kcat(broker: OurBroker) -> Kcat:
    return Kcat(broker.bootstrap_servers)


@pytest.mark.parametrize("codec", CODECS)
def test_what_kcat_writes_in_a_codec_it_reads(broker: OurBroker, kcat: Kcat, codec: str) -> None:
    Librdkafka(broker.bootstrap_servers).create_topic(codec, 1)
    settings = ["-z", codec, "-X", "enable.idempotence=true", "-H", "name=header"]
    kcat.run("-P", "-t", codec, "-p", "0", "-K", ":", "-Z", *settings, stdin=LINES)
    found = kcat.records(codec, "-X", "isolation.level=read_committed")
    assert [(each["key"], each["payload"]) for each in found] == [
        ("key", "value"),
        (None, "empty key"),
        ("empty value", None),
        ("long", "again and again " * 500),
    ]
    assert [each["headers"] for each in found] == [["name", "header"]] * 4
    assert [each["offset"] for each in found] == [0, 1, 2, 3]
    later = kcat.records(codec, "-o", f"s@{found[0]['ts']}")
    assert later == found
    assert kcat.records(codec, "-o", "-1") == found[-1:]


def test_kcat_lists_topics_and_queries_offsets(broker: OurBroker, kcat: Kcat) -> None:
    Librdkafka(broker.bootstrap_servers).create_topic("listed", 3)
    kcat.run("-P", "-t", "listed", "-p", "2", stdin="one\ntwo\n")
    listed = json.loads(kcat.run("-L", "-J", "-t", "listed"))
    assert [each["name"] for each in listed["brokers"]] == [broker.bootstrap_servers]
    assert [len(each["partitions"]) for each in listed["topics"]] == [3]
    assert kcat.run("-Q", "-t", "listed:2:-1").split() == ["listed", "[2]", "offset", "2"]
