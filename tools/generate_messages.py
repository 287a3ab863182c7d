"""Write the declared messages of `barnabas.protocol` from the schemas inside Apache Kafka's jars.

Generated files that no schema asks for any more are deleted. A new Kafka release is one run; it stops at a message
that has no sentence in `tools/message_purposes.py` yet.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools import message_purposes as purposes
from tools.api_table_source import api_table_source, package_source
from tools.kafka_schema import MessageSchema, read_schemas, release
from tools.message_source import class_sources, import_source, snake_case

PROTOCOL = Path(__file__).resolve().parent.parent / "src" / "barnabas" / "protocol"
NOTE = "# Written by tools/generate_messages.py from Kafka's schemas; change that, not this."
# The kinds of schema that make up the two halves of one file, and how the names of each half end.
HALVES = {
    "request": "Request",
    "response": "Response",
    "coordinator-key": "Key",
    "coordinator-value": "Value",
}
# Endings of Kafka's names that a file's name leaves to its package.
ENDINGS = ("Record", "Message", "Schema", "Data")


@dataclass(frozen=True)
class Package:
    """One package of generated files: which schemas it takes, and the tables in which their classes are found."""

    name: str
    about: str
    artifacts: tuple[str, ...]
    kinds: tuple[str, ...]
    purposes: Mapping[str, str]
    catalogues: dict[str, str] = field(default_factory=dict)

    def takes(self, schema: MessageSchema) -> bool:
        return schema.artifact in self.artifacts and schema.kind in self.kinds and stem_of(schema) in self.purposes


KEY_AND_VALUE = ("coordinator-key", "coordinator-value")
PACKAGES = (
    Package(
        "messages",
        "Requests and responses, one file an API, and the headers before them.",
        ("kafka-clients",),
        ("request", "response", "header"),
        {**purposes.APIS, **purposes.HEADERS},
        {"REQUESTS": "Request", "RESPONSES": "Response"},
    ),
    Package(
        "embedded",
        "Messages that travel inside a bytes field of another.",
        ("kafka-clients",),
        ("data",),
        purposes.EMBEDDED,
    ),
    Package(
        "control_records",
        "Control records: the ends of transactions, and what the quorum writes into its log about itself.",
        ("kafka-clients",),
        ("data",),
        purposes.CONTROL_RECORDS,
    ),
    Package(
        "metadata_records",
        "Records of the topic `__cluster_metadata`, one file a type.",
        ("kafka-metadata",),
        ("metadata",),
        purposes.METADATA_RECORDS,
        {"RECORDS": ""},
    ),
    Package(
        "group_records",
        "Records of the topic `__consumer_offsets`, one file a type, which holds key and value.",
        ("kafka-group-coordinator",),
        KEY_AND_VALUE,
        purposes.GROUP_RECORDS,
        {"KEYS": "Key", "VALUES": "Value"},
    ),
    Package(
        "transaction_records",
        "Records of the topic `__transaction_state`, one file a type, which holds key and value.",
        ("kafka-transaction-coordinator",),
        KEY_AND_VALUE,
        purposes.TRANSACTION_RECORDS,
        {"KEYS": "Key", "VALUES": "Value"},
    ),
    Package(
        "share_records",
        "Records of the topic `__share_group_state`, one file a type, which holds key and value.",
        ("kafka-share-coordinator",),
        KEY_AND_VALUE,
        purposes.SHARE_RECORDS,
        {"KEYS": "Key", "VALUES": "Value"},
    ),
    Package(
        "remote_log_records",
        "Records of the topic `__remote_log_metadata`, one file a type.",
        ("kafka-storage",),
        ("metadata",),
        purposes.REMOTE_LOG_RECORDS,
        {"RECORDS": ""},
    ),
    Package(
        "files",
        "Files of a log directory whose layout Kafka declares as a message.",
        ("kafka-storage", "kafka-raft"),
        ("data",),
        purposes.FILES,
    ),
)


def stem_of(schema: MessageSchema) -> str:
    """What the two halves of a file have in common: Produce for ProduceRequest."""
    return schema.name.removesuffix(HALVES.get(schema.kind, ""))


def generate(jars: Path) -> dict[str, str]:
    """The text of every generated file by its path below the protocol package."""
    schemas = read_schemas(jars)
    texts = {}
    for package in PACKAGES:
        files = defaultdict(list)
        for schema in schemas:
            if package.takes(schema):
                files[stem_of(schema)].append(schema)
        for stem, halves in files.items():
            texts[f"{package.name}/{_file_name(stem)}.py"] = _file_source(package, stem, halves)
        texts[f"{package.name}/__init__.py"] = _package_source(package, files)
    requests = [schema for schema in schemas if schema.kind == "request"]
    texts["api_table.py"] = api_table_source(requests, NOTE, release(jars))
    _demand_a_purpose_for_each(schemas)
    return texts


def _demand_a_purpose_for_each(schemas: list[MessageSchema]) -> None:
    for schema in schemas:
        if not any(package.takes(schema) for package in PACKAGES):
            raise SystemExit(
                f"{schema.name} ({schema.artifact}, {schema.kind}) has no sentence in tools/message_purposes.py"
            )


def _file_name(stem: str) -> str:
    for ending in ENDINGS:
        stem = stem.removesuffix(ending)
    return snake_case(stem)


def _file_source(package: Package, stem: str, halves: list[MessageSchema]) -> str:
    classes = class_sources(halves, tuple(HALVES.get(each.kind, "") for each in halves))
    head = f'"""{stem}: {package.purposes[stem]}"""'
    opening = [head, NOTE, "", "from __future__ import annotations", "", import_source(classes)]
    return "\n".join(opening) + "\n\n\n" + "\n\n\n".join(classes) + "\n"


def _package_source(package: Package, files: Mapping[str, list[MessageSchema]]) -> str:
    entries = {
        halves[0].api_key: (_file_name(stem), stem) for stem, halves in files.items() if halves[0].api_key is not None
    }
    return package_source(package.about, NOTE, entries, package.catalogues)


def write(texts: Mapping[str, str]) -> None:
    """Make the generated part of the tree be exactly `texts`."""
    for package in PACKAGES:
        for path in (PROTOCOL / package.name).glob("*.py"):
            if f"{package.name}/{path.name}" not in texts:
                path.unlink()
    for name, text in texts.items():
        path = PROTOCOL / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.generate_messages", description=__doc__)
    parser.add_argument(
        "--jars", type=Path, required=True, metavar="DIR", help="the folder of Kafka's jars that script/referee prints"
    )
    texts = generate(parser.parse_args().jars)
    write(texts)
    print(f"{len(texts)} files written below {PROTOCOL}")


if __name__ == "__main__":
    main()
