"""Declarations: constructors, equality and text of the declared classes, and what is known of their fields."""

from __future__ import annotations

import copy

import pytest

from barnabas.protocol.schema import Int32, Message, String, Struct, field, field_specs
from sample_messages import Branch, Empty, Leaf, Retired, Versioned


def test_a_field_that_is_not_given_has_its_default() -> None:
    message = Versioned(kept=1, branches=[], client_id=None)
    assert (message.old, message.level, message.label, message.owner) == (7, -1, "none", Leaf(id=-1, name=""))
    assert message.unknown_tags == ()


def test_lists_and_structs_are_not_shared_between_messages() -> None:
    one, other = (Versioned(kept=1, branches=[], client_id=None) for _ in range(2))
    one.numbers.append(5)
    one.owner.id = 3
    assert other.numbers == []
    assert other.owner.id == -1


def test_a_field_without_default_must_be_given() -> None:
    with pytest.raises(TypeError, match="kept"):
        Versioned(branches=[], client_id=None)  # type: ignore[call-arg]


def test_an_unknown_name_is_refused_at_construction_and_assignment() -> None:
    with pytest.raises(TypeError, match="nmae"):
        Leaf(nmae="x")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Leaf().nmae = "x"  # type: ignore[attr-defined]


def test_messages_are_equal_by_type_fields_and_unknown_tags() -> None:
    assert Leaf(id=1) == Leaf(id=1)
    assert Leaf(id=1) != Leaf(id=2)
    assert Leaf(unknown_tags=((9, b"x"),)) != Leaf()
    assert Leaf() != Branch(title="", leaves=[])


def test_a_copy_is_equal_and_apart() -> None:
    branch = Branch(title="a", leaves=[Leaf(id=1)])
    twin = copy.deepcopy(branch)
    assert twin == branch
    twin.leaves[0].id = 2
    assert twin != branch


def test_the_text_of_a_message_names_its_fields_and_not_its_batches() -> None:
    class Batch(Message, versions=(0, 0)):
        records: object

    assert repr(Leaf(id=1, name="a")) == "Leaf(id=1, name='a')"
    assert repr(Leaf(id=1, unknown_tags=((4, b""),))) == "Leaf(id=1, name='', unknown_tags=((4, b''),))"
    assert repr(Batch(records=memoryview(bytes(5000)))) == "Batch(records=<5000 bytes>)"


def test_a_message_knows_its_key_and_versions() -> None:
    assert Versioned.api_key == 1002
    assert list(Versioned.valid_versions) == [0, 1, 2, 3, 4]
    assert [Versioned.is_flexible(version) for version in Versioned.valid_versions] == [False, False, True, True, True]
    assert Empty.api_key is None
    assert not Empty.is_flexible(0)
    assert not Retired.valid_versions


def test_field_names_become_camel_case_unless_named() -> None:
    class Named(Struct):
        leader_epoch: Int32
        isr: String
        bytes_: Int32 = field(name="bytes")

    assert [spec.json_name for spec in field_specs(Named)] == ["leaderEpoch", "isr", "bytes"]


def test_a_field_says_where_it_lives_and_how() -> None:
    specs = {spec.name: spec for spec in field_specs(Versioned)}
    assert [specs["old"].is_present(version) for version in range(5)] == [True, True, False, False, False]
    assert [specs["branches"].is_nullable(version) for version in range(5)] == [False, True, True, True, False]
    assert [specs["label"].is_tagged(version) for version in range(5)] == [False, False, False, True, True]
    assert [specs["level"].is_tagged(version) for version in range(5)] == [False, False, True, True, True]


def test_an_annotation_that_is_no_wire_type_is_refused() -> None:
    class Odd(Struct):
        when: complex

    with pytest.raises(TypeError, match=r"Odd\.when"):
        field_specs(Odd)
