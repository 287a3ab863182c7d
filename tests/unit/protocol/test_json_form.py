"""The JSON form: Kafka's names, spelling and rules for what is left out, read back and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.json_form import JsonFormError, from_json, json_text, to_json
from barnabas.protocol.schema import EncodeError, Message, Uuid
from sample_messages import SAMPLE_VERSIONS, Arrays, Branch, Leaf, Primitives, Versioned
from strategies import messages

LEAST = {"kept": 1, "branches": [], "clientId": None}

# Records are written by their size only, so a message with records cannot be read back.
any_readable_sample = st.sampled_from([sample for sample in SAMPLE_VERSIONS if sample[0] is not Primitives]).flatmap(
    lambda sample: st.tuples(messages(sample[0], sample[1]), st.just(sample[1]))
)


def versioned(**changes: Any) -> Versioned:
    values: dict[str, Any] = {"kept": 1, "branches": [], "client_id": None}
    return Versioned(**{**values, **changes})


def test_every_primitive_has_its_form() -> None:
    message = Primitives(
        flag=True,
        tiny=-1,
        small=2,
        unsigned_small=3,
        medium=4,
        unsigned_medium=2**32 - 1,
        large=-(2**63),
        ratio=1.0,
        id=Uuid(b"\xfb" * 16),
        text='é"\n',
        maybe_text=None,
        data=b"\xfb\xff",
        maybe_data=None,
        records=b"batch",
        maybe_records=None,
    )
    assert json_text(to_json(message, 1)) == (
        '{"flag":true,"tiny":-1,"small":2,"unsignedSmall":3,"medium":4,"unsignedMedium":4294967295,'
        '"large":-9223372036854775808,"ratio":1.0,"id":"-_v7-_v7-_v7-_v7-_v7-w","text":"é\\"\\n","maybeText":null,'
        '"data":"+/8=","maybeData":null,"recordsSizeInBytes":5,"maybeRecords":null}'
    )


def test_fields_of_other_versions_and_tagged_defaults_are_left_out() -> None:
    message = versioned(branches=[Branch(title="t", leaves=[Leaf(id=1, name="dropped")])], hint="dropped")
    branch = {"title": "t", "leaves": [{"id": 1}]}
    assert to_json(message, 0) == {"old": 7, "kept": 1, "branches": [branch], "clientId": None}
    assert to_json(versioned(level=4, label=None), 3) == {**LEAST, "hint": "", "level": 4, "label": None}
    assert to_json(versioned(label="none", owner=Leaf(id=2)), 3) == {
        **LEAST,
        "hint": "",
        "owner": {"id": 2, "name": ""},
    }


def test_a_name_that_differs_is_used() -> None:
    message = Arrays(
        flags=[],
        bytes_=[1],
        shorts=[],
        ints=[],
        longs=[],
        ids=[],
        texts=[],
        blobs=[b"a"],
        maybe_ints=None,
        maybe_texts=None,
    )
    node = to_json(message, 0)
    assert node["bytes"] == [1]
    assert node["blobs"] == ["YQ=="]
    assert from_json(Arrays, 0, node) == message


@given(any_readable_sample)
def test_what_is_written_is_read_back_but_for_unknown_tags(sample: tuple[Message, int]) -> None:
    message, version = sample
    node = to_json(message, version)
    assert json.loads(json_text(node)) == node
    assert to_json(from_json(type(message), version, node), version) == node


def test_absent_tagged_fields_read_as_defaults_and_unknown_names_are_left_alone() -> None:
    node = {**LEAST, "hint": "h", "dataVersion": 1}
    assert from_json(Versioned, 3, node) == versioned(hint="h")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kept": "1"}, "kept: expected int16, found '1'"),
        ({"kept": 32768}, "kept: expected int16, found 32768"),
        ({"kept": True}, "kept: expected int16, found True"),
        ({"kept": None}, "kept: expected int16, found None"),
        ({"hint": 3}, "hint: expected string, found 3"),
        ({"branches": {}}, "branches: expected an array, found {}"),
        ({"branches": [3]}, r"branches\[0\]: expected an object, found 3"),
        ({"branches": [{"title": "t"}]}, r"branches\[0\].leaves: the field is missing"),
        ({"owner": {"id": 1.0, "name": ""}}, "owner.id: expected int32, found 1.0"),
    ],
)
def test_other_json_is_refused_with_the_field(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(JsonFormError, match=f"^Versioned v3, {reason}$"):
        from_json(Versioned, 3, {**LEAST, "hint": "", **change})


@pytest.mark.parametrize(("name", "value"), [("id", "short"), ("id", 5), ("data", "*"), ("data", 5), ("ratio", 1)])
def test_bad_ids_bytes_and_floats_are_refused(name: str, value: object) -> None:
    integers = ("tiny", "small", "unsignedSmall", "medium", "unsignedMedium", "large")
    node: dict[str, Any] = {"flag": True, **dict.fromkeys(integers, 0), "ratio": 0.5, "id": "A" * 22, "text": ""}
    node |= {"maybeText": None, "data": "", "maybeData": None, "records": "", "maybeRecords": None}
    assert from_json(Primitives, 0, node).id == Uuid(bytes(16))
    with pytest.raises(JsonFormError, match=f"{name}: expected"):
        from_json(Primitives, 0, {**node, name: value})


def test_a_value_that_the_version_cannot_carry_is_refused() -> None:
    with pytest.raises(EncodeError, match="old: this version has no such field"):
        to_json(versioned(old=8), 2)
    with pytest.raises(EncodeError, match="owner: null is not allowed"):
        to_json(versioned(owner=None), 3)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (0.001, "0.001"),
        (0.00099999, "9.9999E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-104857600.0, "-1.048576E8"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
    ],
)
def test_numbers_with_a_fraction_are_spelled_as_java_does(value: float, text: str) -> None:
    assert json_text(value) == text


def test_control_characters_are_escaped_in_capitals_and_others_are_not() -> None:
    assert json_text("\x00\b\x1f\x7f\\u001f\u2028é") == '"\\u0000\\b\\u001F\x7f\\\\u001f\u2028é"'
