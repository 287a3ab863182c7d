"""Schemas become declarations that say no more than they must."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from tools.kafka_schema import MessageSchema, Versions, parse_message
from tools.message_source import class_sources, import_source, snake_case


def schema(fields: list[dict[str, Any]], **changes: Any) -> MessageSchema:
    source = {
        "apiKey": 7,
        "type": "request",
        "name": "WeighRequest",
        "validVersions": "2-5",
        "flexibleVersions": "4+",
        "fields": fields,
    }
    return parse_message("kafka-clients", {**source, **changes})


def body(*fields: dict[str, Any]) -> list[str]:
    (text,) = class_sources([schema(list(fields))], ("Request",))
    return [line.strip() for line in text.splitlines()[1:]]


def one(**field: Any) -> str:
    (line,) = body({"name": "Load", "type": "int32", "versions": "0+", **field})
    return line


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TopicId", "topic_id"),
        ("KRaftVersionFeature", "kraft_version_feature"),
        ("V3AndBelowTopics", "v3_and_below_topics"),
        ("LeaderIDAndEpoch", "leader_id_and_epoch"),
    ],
)
def test_names_become_pythons(name: str, expected: str) -> None:
    assert snake_case(name) == expected


@pytest.mark.parametrize(("text", "versions"), [("3+", (3, 32767)), ("2-7", (2, 7)), ("5", (5, 5)), ("none", (0, -1))])
def test_version_ranges_are_read(text: str, versions: tuple[int, int]) -> None:
    assert Versions.parse(text) == versions


def test_a_field_of_every_version_without_default_must_be_given() -> None:
    assert one() == "load: Int32"
    assert one(versions="2-5") == "load: Int32"


def test_a_field_of_some_versions_names_them_and_has_a_default() -> None:
    assert one(versions="3+") == "load: Int32 = field(since=3, default=0)"
    assert one(versions="0-4", default="-1") == "load: Int32 = field(until=4, default=-1)"
    assert one(versions="3-4", type="[]int32") == "load: list[Int32] = field(since=3, until=4, default_factory=list)"


def test_a_field_of_removed_versions_is_left_out() -> None:
    assert body({"name": "Load", "type": "int32", "versions": "0-1"}) == ["pass"]


def test_a_default_alone_is_written_bare() -> None:
    assert one(default="0x7fffffff") == "load: Int32 = 2147483647"
    assert one(type="bool", default="true") == "load: Bool = True"
    assert one(type="string", nullableVersions="0+", default="null") == "load: String | None = None"


def test_jsons_own_null_leaves_the_default_to_the_type() -> None:
    tagged = one(type="[]int32", nullableVersions="4+", taggedVersions="4+", versions="4+", tag=1, default=None)
    assert tagged == "load: list[Int32] | None = field(since=4, default_factory=list, tag=1)"


def test_null_in_some_versions_only_is_named() -> None:
    assert one(type="string", nullableVersions="3+") == "load: String | None = field(nullable_since=3)"
    assert one(type="string", nullableVersions="0-4") == "load: String | None = field(nullable_until=4)"
    assert one(type="string", nullableVersions="0-1") == "load: String"


def test_ignorable_matters_only_where_versions_lack_the_field() -> None:
    assert one(ignorable=True) == "load: Int32"
    assert one(versions="3+", ignorable=True) == "load: Int32 = field(since=3, default=0, ignorable=True)"


def test_a_name_that_does_not_come_back_from_pythons_is_kept() -> None:
    assert one(name="KRaftLoad") == 'kraft_load: Int32 = field(name="kRaftLoad")'


def test_structs_come_before_their_users_and_know_their_own_versions() -> None:
    inner = {"name": "Unit", "type": "string", "versions": "3+"}
    outer = {"name": "Loads", "type": "[]Load", "versions": "3+", "fields": [inner]}
    assert class_sources([schema([outer])], ("Request",)) == [
        "class Load(Struct):\n    unit: String",
        "class WeighRequest(Message, key=7, versions=(2, 5), flexible_since=4):\n"
        "    loads: list[Load] = field(since=3, default_factory=list)",
    ]


def test_a_struct_that_stands_as_a_default_can_be_made_without_values() -> None:
    inner = {"name": "Unit", "type": "string", "versions": "4+"}
    outer = {"name": "Load", "type": "Load", "versions": "4+", "taggedVersions": "4+", "tag": 0, "fields": [inner]}
    load, weigh = class_sources([schema([outer])], ("Request",))
    assert load == 'class Load(Struct):\n    unit: String = ""'
    assert weigh.endswith("load: Load = field(since=4, default_factory=Load, tag=0)")


def test_structs_of_the_same_name_carry_the_half_of_the_file_they_belong_to() -> None:
    loads = {"name": "Loads", "type": "[]Load", "versions": "0+", "fields": []}
    answer = schema([loads], type="response", name="WeighResponse")
    texts = class_sources([schema([loads]), answer], ("Request", "Response"))
    assert [text.split("(")[0] for text in texts] == [
        "class RequestLoad",
        "class WeighRequest",
        "class ResponseLoad",
        "class WeighResponse",
    ]


def test_a_name_that_messages_have_already_stops_the_run() -> None:
    with pytest.raises(SystemExit, match="ApiKey"):
        body({"name": "ApiKey", "type": "int16", "versions": "0+"})


def test_imports_are_what_the_classes_use() -> None:
    text = dedent(
        """
        class Load(Struct):
            unit: String = field(since=3, default="Bool")
        """
    )
    assert import_source([text]) == "from barnabas.protocol.schema import String, Struct, field"
