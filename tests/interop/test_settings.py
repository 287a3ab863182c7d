"""The settings of a node are Apache Kafka's own, but for those named here with the reason."""

from __future__ import annotations

import json
import random
from typing import NamedTuple

import pytest

from barnabas.config.node_rules import parse_node
from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.setting import ConfigError, Setting
from interop.referee import PROGRAMS, JvmProcess, run_java
from node_settings import BROKER, COMBINED, CONTROLLER, REFUSED

pytestmark = pytest.mark.referee

# Setting, what Kafka allows, what we allow.
OTHER_LIMITS = {
    # docs/adr/0006-small-segments.md
    "log.segment.bytes": ("[1048576,...]", "[14,...]"),
    # The text says more than Kafka checks: both may be empty, and what they hold is checked when it is parsed.
    "controller.quorum.voters": ("non-empty list", ""),
    "controller.quorum.bootstrap.servers": ("non-empty list", ""),
    # A properties file has no way to say null.
    "authorizer.class.name": ("non-null string", ""),
}


class Facts(NamedTuple):
    kind: str
    default: str
    allowed: str
    is_internal: bool
    reload: str


@pytest.fixture(scope="module")
def apache() -> dict[str, Facts]:
    rows = [line.split("\t") for line in run_java(PROGRAMS / "Settings.java").stdout.splitlines()]
    return {
        name: Facts(kind, default, allowed, is_internal == "true", reload)
        for name, kind, default, allowed, is_internal, reload in rows
    }


def facts(setting: Setting) -> Facts:
    default = Setting.format(setting.default)
    if setting.default is None:
        default = "<required>" if setting.is_required else "<null>"
    return Facts(setting.kind.name, default, str(setting.allowed or ""), setting.is_internal, setting.reload.value)


def test_every_setting_is_declared_and_no_other(apache: dict[str, Facts]) -> None:
    assert apache.keys() == SERVER_SETTINGS.keys()


def test_types_defaults_limits_and_reloads_are_kafkas(apache: dict[str, Facts]) -> None:
    expected = {
        name: each._replace(allowed=OTHER_LIMITS[name][1]) if name in OTHER_LIMITS else each
        for name, each in apache.items()
    }
    assert {name: facts(setting) for name, setting in SERVER_SETTINGS.items()} == expected


def test_each_difference_is_still_one(apache: dict[str, Facts]) -> None:
    assert {name: apache[name].allowed for name in OTHER_LIMITS} == {
        name: limit for name, (limit, _) in OTHER_LIMITS.items()
    }


def test_nodes_that_we_refuse_are_refused_by_apache_and_those_we_accept_accepted() -> None:
    accepted = [COMBINED, CONTROLLER, BROKER]
    refused = [settings | changes for settings, changes, _, _ in REFUSED]
    with JvmProcess(PROGRAMS / "Settings.java", "check") as apache:
        verdicts = list(apache.exchange(json.dumps(settings) for settings in accepted + refused))
    assert verdicts[: len(accepted)] == ["accepted"] * len(accepted)
    assert [REFUSED[i][1] for i, verdict in enumerate(verdicts[len(accepted) :]) if verdict == "accepted"] == []


CHOICES = {
    "process.roles": ["broker", "controller", "broker,controller"],
    "listeners": [
        "PLAINTEXT://h:1",
        "CONTROLLER://h:1",
        "PLAINTEXT://h:1,CONTROLLER://h:2",
        "PLAINTEXT://:1,CONTROLLER://:2",
        "PLAINTEXT://0.0.0.0:1,CONTROLLER://0.0.0.0:2",
        "PLAINTEXT://127.0.0.1:1,CONTROLLER://[::1]:1",
        "IN://h:1,OUT://h:2,CONTROLLER://h:3",
        "SSL://h:1,CONTROLLER://h:2",
        "plaintext://h:1,controller://h:2",
        "PLAINTEXT://h:1,CONTROLLER://h:1",
    ],
    "advertised.listeners": [
        "PLAINTEXT://h:1",
        "CONTROLLER://h:1",
        "PLAINTEXT://h:1,CONTROLLER://h:1",
        "OUT://h:1",
        "",
    ],
    "listener.security.protocol.map": [
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "IN:PLAINTEXT,OUT:SSL,CONTROLLER:PLAINTEXT",
        "PLAINTEXT:PLAINTEXT",
        "PLAINTEXT:NONE",
        "",
    ],
    "inter.broker.listener.name": ["PLAINTEXT", "IN", "OUT", "CONTROLLER", "in"],
    "security.inter.broker.protocol": ["PLAINTEXT", "SSL", "SASL_SSL"],
    "controller.listener.names": ["CONTROLLER", "CONTROLLER,PLAINTEXT", "PLAINTEXT", "controller", "SSL", ""],
    "controller.quorum.voters": ["1@h:1", "1@h:1,2@h:1", "2@h:1", "1@h", "one@h:1", "1@[::1]:1", ""],
    "controller.quorum.bootstrap.servers": ["h:1", "h:1,[::1]:2", "h", ""],
    "controller.quorum.auto.join.enable": ["true", "false"],
    "early.start.listeners": ["PLAINTEXT", "CONTROLLER", "IN", ""],
    "cordoned.log.dirs": ["*", "/data", "/data,*", ""],
    "broker.id": ["1", "2"],
}
# How often a setting is changed; where all are, nothing fits.
OFTEN = {"process.roles": 1.0, "listeners": 0.6, "controller.quorum.voters": 0.3}


def test_random_nodes_are_accepted_by_both_or_by_neither() -> None:
    rng = random.Random(4)
    nodes = [random_node(rng) for _ in range(3_000)]
    with JvmProcess(PROGRAMS / "Settings.java", "check") as apache:
        verdicts = list(apache.exchange(map(json.dumps, nodes)))
    disagreed = [
        (node, verdict, our_verdict(node))
        for node, verdict in zip(nodes, verdicts, strict=True)
        if (verdict == "accepted") != (our_verdict(node) == "accepted")
    ]
    assert not disagreed
    assert 300 < verdicts.count("accepted") < 2_700


def random_node(rng: random.Random) -> dict[str, str]:
    given = {name: rng.choice(texts) for name, texts in CHOICES.items() if rng.random() < OFTEN.get(name, 0.1)}
    return COMBINED | {"log.dirs": "/data"} | given


def our_verdict(node: dict[str, str]) -> str:
    try:
        parse_node(node)
    except ConfigError as error:
        return str(error)
    return "accepted"
