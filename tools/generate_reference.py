"""Writes the pages under docs/reference from the tables in the code, so that they cannot tell another story.

Run it without arguments after a change; a test compares the pages with what it would write.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from barnabas.broker.forwarding import Forwarding
from barnabas.broker.routing import RoutingTable, ServedBy
from barnabas.config.node_rules import parse_node
from barnabas.config.server import FAMILIES
from barnabas.config.setting import Setting
from barnabas.config.topic import TOPIC_SETTINGS
from barnabas.protocol.api import APIS, Api, Listener
from barnabas.protocol.errors import ErrorCode
from barnabas.runtime.broker.serving import ServingParts, broker_table
from barnabas.runtime.controller.serving import controller_table

REFERENCE = Path(__file__).parents[1] / "docs/reference"
WRITTEN = "<!-- Written by tools/generate_reference.py; change that, or the declarations it reads. -->"


def served_tables() -> dict[Listener, RoutingTable]:
    """What each kind of listener serves. Routes are read off handlers that have nothing to work with."""
    node = parse_node(
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": "localhost:9093",
            "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
        }
    )
    nothing: Any = None
    parts = ServingParts(
        node=node,
        cluster_id="",
        settings=nothing,
        directories=nothing,
        replicas=nothing,
        alter_log_dir=nothing,
        forwarding=Forwarding(nothing, nothing, nothing),
        groups=nothing,
        rng=Random(0),
        features=nothing,
        broker_epoch=nothing,
        ask_controller=nothing,
        controller_versions=nothing,
        spawn=nothing,
        run_off_loop=nothing,
    )
    controllers = controller_table(
        node, replay=nothing, acls=nothing, features=nothing, ask_controller=nothing, ask_quorum=nothing
    )
    return {Listener.BROKER: broker_table(parts), Listener.CONTROLLER: controllers}


def protocol_page() -> str:
    tables = served_tables()
    apis = [_api_line(api, tables) for _, api in sorted(APIS.items())]
    errors = [
        f"| {code.value} | {code.name} | {'yes' if code.is_retriable else ''} | {code.message} |"
        for code in sorted(ErrorCode)
    ]
    return "\n".join(
        [
            "# Protocol: APIs, versions, error codes",
            WRITTEN,
            "",
            "The messages that can be read and written, with Kafka's numbers, names and versions. A version in "
            "brackets is one that Kafka still changes and does not advertise. The last columns say which versions the "
            "listeners of a node here serve: `no` is an API that Kafka serves there and that does not work here yet, "
            "and nothing one that Kafka does not serve there either. What a broker passes on to the active controller "
            "is marked by an arrow, and offered in the versions that both know.",
            "",
            "## APIs",
            "",
            "| key | name | versions | flexible from | brokers | controllers |",
            "|---|---|---|---|---|---|",
            *apis,
            "",
            "## Error codes",
            "",
            "| code | name | retriable | meaning |",
            "|---|---|---|---|",
            *errors,
            "",
        ]
    )


def _api_line(api: Api, tables: dict[Listener, RoutingTable]) -> str:
    stable = _span(api.stable_versions)
    versions = stable if api.stable_versions == api.versions else f"{stable} ({api.versions[-1]})"
    flexible = api.request.flexible_since if api.request.flexible_since in api.versions else ""
    served = " | ".join(_served(api, table) for table in tables.values())
    return f"| {api.key.value} | {api.name} | {versions} | {flexible} | {served} |"


def _served(api: Api, table: RoutingTable) -> str:
    route = table.routes.get(api.key)
    if route is None:
        return "no" if table.listener in api.listeners else ""
    is_passed_on = table.listener is Listener.BROKER and route.served_by is ServedBy.CONTROLLER
    return f"{_span(route.versions)}{' →' if is_passed_on else ''}"


def _span(versions: range) -> str:
    return f"{versions[0]}" if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def topic_settings_page() -> str:
    return "\n".join(
        [
            "# Topic settings",
            WRITTEN,
            "",
            "Kafka's names, defaults and limits. Where a topic sets none of its own, the first broker setting in the "
            "last column that is set gives the default.",
            "",
            "| setting | type | default | allowed | meaning | broker settings |",
            "|---|---|---|---|---|---|",
            *map(_setting_line, TOPIC_SETTINGS),
            "",
        ]
    )


def _setting_line(setting: Setting) -> str:
    synonyms = ", ".join(f"`{synonym.name}`" for synonym in setting.synonyms)
    return (
        f"| `{setting.name}` | {setting.kind.name.lower()} | {Setting.format(setting.default)} | "
        f"{setting.allowed or ''} | {setting.doc} | {synonyms} |"
    )


def server_settings_page() -> str:
    lines = [
        "# Server settings",
        WRITTEN,
        "",
        "What `server.properties` may hold, with Kafka's names, types, defaults and limits. All are read and checked, "
        "also those of mechanisms that are not there yet. A setting that is not read-only can be changed while the "
        "node runs, for one broker (per-broker) or also for all at once (cluster-wide). Settings that Kafka keeps for "
        "its own tests are left out.",
    ]
    for heading, family in FAMILIES.items():
        lines += [
            "",
            f"## {heading}",
            "",
            "| setting | type | default | allowed | reload | meaning |",
            "|---|---|---|---|---|---|",
            *(_server_setting_line(setting) for setting in family if not setting.is_internal),
        ]
    return "\n".join([*lines, ""])


def _server_setting_line(setting: Setting) -> str:
    default = Setting.format(setting.default)
    if setting.default is None:
        default = "(required)" if setting.is_required else "(none)"
    return (
        f"| `{setting.name}` | {setting.kind.name.lower()} | {default} | {setting.allowed or ''} | "
        f"{setting.reload.value} | {setting.doc} |"
    )


PAGES = {
    "protocol.md": protocol_page,
    "server-settings.md": server_settings_page,
    "topic-settings.md": topic_settings_page,
}


def main() -> None:
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())
        print(f"wrote docs/reference/{name}")


if __name__ == "__main__":
    main()
