"""The settings of a node are Apache Kafka's own, but for those named here with the reason."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.setting import Setting
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
