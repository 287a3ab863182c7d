"""Writes the generated tables: the APIs of `barnabas.protocol.api_table`, and each package's list of its classes."""

from __future__ import annotations

from collections.abc import Iterable

from tools.kafka_schema import MessageSchema
from tools.message_source import snake_case


def api_table_source(requests: Iterable[MessageSchema], note: str, kafka_release: str) -> str:
    """The numbers of the APIs as an enumeration, and one row of facts for each."""
    members, rows = [], []
    for schema in sorted(requests, key=lambda each: each.api_key or 0):
        name = schema.name.removesuffix("Request")
        member = snake_case(name).upper()
        oldest, newest = schema.versions
        unstable = ", True" if schema.is_newest_unstable else ""
        members.append(f"    {member} = {schema.api_key}")
        listeners = " ".join(schema.listeners)
        rows.append(f'    (ApiKey.{member}, "{name}", {oldest}, {newest}, "{listeners}"{unstable}),')
    head = f'"""The APIs of Apache Kafka {kafka_release}: their numbers, and what their schemas say of each."""'
    opening = [head, note, "", "from __future__ import annotations", "", "from enum import IntEnum", "", ""]
    about = "# Name, oldest and newest version, listeners, and whether the newest version may still change."
    return "\n".join([*opening, "class ApiKey(IntEnum):", *members, "", "", about, "ROWS = (", *rows, ")", ""])


def package_source(about: str, note: str, entries: dict[int, tuple[str, str]], catalogues: dict[str, str]) -> str:
    """A package's `__init__`: what is in it and, where its classes have numbers, which number is which.

    `catalogues` maps the name of each table to the ending of its classes.
    """
    head = f'"""{about}"""'
    if not entries:
        return f"{head}\n{note}\n"
    rows = [f'    {number}: ("{file}", "{name}"),' for number, (file, name) in sorted(entries.items())]
    imports = ["from __future__ import annotations", "", "from barnabas.protocol.catalogue import Catalogue", ""]
    tables = [
        f'{name} = Catalogue(__name__, _ENTRIES, "{ending}")' if ending else f"{name} = Catalogue(__name__, _ENTRIES)"
        for name, ending in catalogues.items()
    ]
    return "\n".join([head, note, "", *imports, "_ENTRIES = {", *rows, "}", *tables, ""])
