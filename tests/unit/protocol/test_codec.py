"""The compiled codecs: exact bytes of every feature, round trips of random messages, and refusal of anything else."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol.codec import decode, decoder, encode, encoder, gather, gatherer
from barnabas.protocol.schema import (
    EncodeError,
    Int32,
    Message,
    ProtocolError,
    Records,
    Struct,
    UnsupportedVersion,
    Uuid,
    field,
)
from sample_messages import SAMPLE_VERSIONS, Arrays, Branch, Empty, Leaf, Primitives, Retired, Versioned
from strategies import messages

IDENTITY = Uuid(bytes(range(16)))

any_sample = st.sampled_from(SAMPLE_VERSIONS).flatmap(
    lambda sample: st.tuples(messages(sample[0], sample[1]), st.just(sample[1]))
)


def primitives(**changes: Any) -> Primitives:
    values: dict[str, Any] = {
        "flag": True,
        "tiny": -2,
        "small": 258,
        "unsigned_small": 65535,
        "medium": -1,
        "unsigned_medium": 2**32 - 2,
        "large": 2**62,
        "ratio": 0.5,
        "id": IDENTITY,
        "text": "né",
        "maybe_text": None,
        "data": b"\x01\x02",
        "maybe_data": None,
        "records": b"batch",
        "maybe_records": None,
    }
    return Primitives(**{**values, **changes})


def arrays(**changes: Any) -> Arrays:
    values: dict[str, Any] = {
        "flags": [True, False],
        "bytes_": [-1],
        "shorts": [],
        "ints": [1, 2],
        "longs": [3],
        "ids": [IDENTITY],
        "texts": ["a", ""],
        "blobs": [b"z"],
        "maybe_ints": None,
        "maybe_texts": [],
    }
    return Arrays(**{**values, **changes})


def versioned(**changes: Any) -> Versioned:
    values: dict[str, Any] = {"kept": 1, "branches": [], "client_id": "c"}
    return Versioned(**{**values, **changes})


FIXED = "01 fe 0102 ffff ffffffff fffffffe 4000000000000000 3fe0000000000000 000102030405060708090a0b0c0d0e0f"


@pytest.mark.parametrize(
    ("message", "version", "expected"),
    [
        (
            primitives(),
            0,
            FIXED + "0003 6ec3a9  ffff  00000002 0102  ffffffff  00000005 6261746368  ffffffff",
        ),
        (primitives(), 1, FIXED + "04 6ec3a9  00  03 0102  00  06 6261746368  00  00"),
        (
            arrays(),
            1,
            "03 0100  02 ff  01  03 00000001 00000002  02 0000000000000003  02 000102030405060708090a0b0c0d0e0f"
            "  03 02 61 01  02 02 7a  00  01  00",
        ),
        # Version 0 has `old`, no nullable struct and no name in a leaf.
        (
            versioned(branches=[Branch(title="t", leaves=[Leaf(id=5)])]),
            0,
            "00000007 0001 00000001 0001 74 00000001 00000005 0001 63",
        ),
        # Version 1 adds the nullable struct (present, then absent), nullable branches and the untagged label.
        (
            versioned(branches=[Branch(title="t", leaves=[], best=Leaf(id=5, name="n"))], label=None),
            1,
            "00000007 0001 00000001 0001 74 00000000 01 00000005 0001 6e 0001 63 ffff",
        ),
        (
            versioned(branches=[Branch(title="t", leaves=[])]),
            1,
            "00000007 0001 00000001 000174 00000000 ff 000163 00046e6f6e65",
        ),
        (versioned(branches=None), 1, "00000007 0001 ffffffff 0001 63 0004 6e6f6e65"),
        # Version 2 is flexible, the client id is not.
        (versioned(), 2, "0001 01 0001 63 05 6e6f6e65 00"),
        (versioned(level=3), 2, "0001 01 0001 63 05 6e6f6e65 01 01 04 00000003"),
        # Tagged fields rise by tag, with unknown ones between; null as a tagged value is written if it is no default.
        (
            versioned(
                label=None,
                level=3,
                owner=Leaf(id=8, name="o"),
                spare=Leaf(id=9),
                numbers=[1],
                unknown_tags=((4, b"\xaa\xbb"), (200, b"")),
            ),
            3,
            "0001 01 0001 63 01"
            "07  00 01 00  01 04 00000003  02 07 00000008 02 6f 00  03 07 01 00000009 01 00"
            "04 02 aabb  05 09 02 0000000000000001  c801 00",
        ),
        (versioned(names=["a"]), 4, "0001 01 0001 63 01 01 07 03 02 02 61"),
        (versioned(backup=None), 4, "0001 01 0001 63 01 01 09 01 00"),
        (versioned(backup=Leaf(id=1)), 4, "0001 01 0001 63 01 01 09 07 01 00000001 01 00"),
        # A struct like its default is still written for what it keeps aside.
        (versioned(owner=Leaf(unknown_tags=((5, b"x"),))), 3, "0001 01 000163 01 01 02 09 ffffffff 01 01 05 01 78"),
        (Empty(), 0, ""),
    ],
)
def test_a_message_has_exactly_these_bytes(message: Message, version: int, expected: str) -> None:
    assert encode(message, version).hex(" ") == bytes.fromhex(expected).hex(" ")
    assert decode(type(message), version, bytes.fromhex(expected)) == message


@given(any_sample)
def test_what_is_written_is_read_back(sample: tuple[Message, int]) -> None:
    message, version = sample
    encoded = encode(message, version)
    decoded = decode(type(message), version, encoded)
    assert decoded == message
    assert encode(decoded, version) == encoded


@given(any_sample, st.binary(max_size=5), st.binary(max_size=5))
def test_a_decoder_starts_and_stops_in_the_midst_of_a_buffer(
    sample: tuple[Message, int], before: bytes, after: bytes
) -> None:
    message, version = sample
    encoded = encode(message, version)
    view = memoryview(before + encoded + after)
    assert decoder(type(message), version)(view, len(before)) == (message, len(before) + len(encoded))


@given(any_sample, st.binary(max_size=5))
def test_gathered_buffers_are_the_same_bytes(sample: tuple[Message, int], before: bytes) -> None:
    message, version = sample
    parts = gatherer(type(message), version)(message, bytearray(before))
    assert b"".join(parts) == before + encode(message, version)


@given(any_sample)
def test_a_message_cut_at_any_byte_is_refused(sample: tuple[Message, int]) -> None:
    message, version = sample
    encoded = bytes(encode(message, version))
    for cut in range(len(encoded)):
        with pytest.raises(ProtocolError) as caught:
            decode(type(message), version, encoded[:cut])
        assert caught.value.position <= cut


@given(any_sample, st.data())
def test_mutated_bytes_give_a_message_or_a_protocol_error(sample: tuple[Message, int], data: st.DataObject) -> None:
    message, version = sample
    mutated = bytearray(encode(message, version))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(mutated)))
        mutated[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with suppress(ProtocolError):
        survivor = encode(decode(type(message), version, mutated), version)
        # Compared as bytes, because a mutated float may have become one that does not equal itself.
        assert encode(decode(type(message), version, survivor), version) == survivor


@given(st.sampled_from(SAMPLE_VERSIONS), st.binary(max_size=80))
def test_random_bytes_give_a_message_or_a_protocol_error(sample: tuple[type[Message], int], junk: bytes) -> None:
    with suppress(ProtocolError):
        decode(*sample, junk)


def test_unknown_tags_are_kept_in_nested_structs_too() -> None:
    message = versioned(branches=[Branch(title="t", leaves=[Leaf(unknown_tags=((0, b"x"), (70000, b"yz")))])])
    assert decode(Versioned, 4, encode(message, 4)) == message


def refusal(message: type[Message], version: int, encoded: str) -> tuple[str, int, str]:
    with pytest.raises(ProtocolError) as caught:
        decode(message, version, bytes.fromhex(encoded))
    assert (caught.value.message, caught.value.version) == (message.__name__, version)
    return caught.value.path, caught.value.position, caught.value.reason


@pytest.mark.parametrize(
    ("message", "version", "encoded", "path", "position", "reason"),
    [
        (Versioned, 0, "00000007 00", "kept", 4, "the input ends before the field does"),
        (Versioned, 0, "00000007 0001 ffffffff", "branches", 6, "null is not allowed here"),
        (Versioned, 4, "0001 00", "branches", 2, "null is not allowed here"),
        (Versioned, 0, "00000007 0001 7fffffff 0001", "branches", 6, "2147483647 elements of at least 6 bytes"),
        (Versioned, 0, "00000007 0001 00000001 0001 ff 00000000", "branches[0].title", 10, "not UTF-8"),
        (Versioned, 0, "00000007 0001 00000001 0009 61 00000000", "branches[0].title", 10, "a length of 9, but 5"),
        (
            Versioned,
            0,
            "00000007 0001 00000002 0000 00000000 0000 00000002 00000009 00",
            "branches[1].leaves",
            18,
            "2 elements of at least 4 bytes, but 5",
        ),
        (Versioned, 3, "0001 01 0000 01 ffffffffff", "tagged fields", 6, "5 bytes"),
        (
            Versioned,
            3,
            "0001 01 0000 01 02 0104 00000001 0104 00000002",
            "tagged fields",
            13,
            "tag 1 comes after tag 1",
        ),
        (Versioned, 3, "0001 01 0000 01 02 050101 0104", "tagged fields", 10, "tag 1 comes after tag 5"),
        (Versioned, 3, "0001 01 0000 01 01 0103 00000001", "level", 9, "takes 1 bytes more than it announced"),
        (Versioned, 3, "0001 01 0000 01 01 0105 00000001 00", "level", 9, "takes 1 bytes less than it announced"),
        (Versioned, 3, "0001 01 0000 01 01 0a7f 00", "tagged fields", 7, "a length of 127, but 1"),
        (Versioned, 3, "0001 01 0000 01 7f 0a00", "tagged fields", 6, "127 elements of at least 2 bytes, but 2"),
        (Versioned, 3, "0001 01 0000 01 01 0701 00", "tagged fields", 7, "tag 7 is not valid in this version"),
        (Versioned, 4, "0001 01 0000 01 01 07 06 03 0261 02ff 00", "names[1]", 12, "not UTF-8"),
        (Empty, 0, "00", "", 0, "1 bytes follow the message"),
    ],
)
def test_bad_bytes_are_refused_with_field_and_position(
    message: type[Message], version: int, encoded: str, path: str, position: int, reason: str
) -> None:
    found_path, found_position, found_reason = refusal(message, version, encoded)
    assert (found_path, found_position) == (path, position)
    assert reason in found_reason


def test_a_flexible_string_is_not_longer_than_a_fixed_one_can_be() -> None:
    encoded = bytearray(encode(versioned(hint="k" * 32767), 4))
    assert decode(Versioned, 4, encoded).hint == "k" * 32767
    place = encoded.index(b"\x80\x80\x02")
    encoded[place : place + 3] = b"\x81\x80\x02"
    with pytest.raises(ProtocolError, match=r"hint, .*32768 bytes is longer than 32767"):
        decode(Versioned, 4, encoded + b"\x00")


def test_any_negative_length_is_null_where_null_is_allowed() -> None:
    assert decode(Versioned, 1, bytes.fromhex("00000007 0001 fffffffe 8000 8000")).branches is None


def test_records_are_views_of_the_input_and_other_bytes_are_copies() -> None:
    encoded = bytearray(encode(primitives(maybe_data=b"old"), 1))
    decoded = decode(Primitives, 1, encoded)
    assert isinstance(decoded.records, memoryview)
    encoded[encoded.index(b"batch")] ^= 0x20
    assert bytes(decoded.records) == b"Batch"
    assert decoded.maybe_data == b"old"
    assert isinstance(decoded.maybe_data, bytes)


def test_gathering_hands_records_out_without_copying() -> None:
    class Region:
        def __len__(self) -> int:
            return 1000

    class Fetched(Struct):
        index: Int32
        records: Records | None

    class Fetch(Message, versions=(0, 0), flexible_since=0):
        fetched: list[Fetched]

    globals().update(Fetched=Fetched)
    region, batch = Region(), memoryview(b"batch")
    fetch = Fetch(
        fetched=[Fetched(index=1, records=region), Fetched(index=2, records=None), Fetched(index=3, records=batch)]
    )
    parts = gather(fetch, 0)
    assert [bytes(part).hex() for part in parts[::2]] == [
        "0400000001e907",
        "00" + "00000002" + "0000" + "0000000306",
        "0000",
    ]
    assert parts[1] is region
    assert parts[3] is batch
    with pytest.raises(EncodeError, match=r"fetched\[0\]\.records"):
        encode(fetch, 0)


def test_nothing_is_gathered_after_records_that_end_a_message() -> None:
    class Tail(Message, versions=(0, 0)):
        records: Records

    assert gather(Tail(records=b"batch"), 0) == [b"\x00\x00\x00\x05", b"batch"]


@pytest.mark.parametrize(
    ("message", "version", "path", "reason"),
    [
        (primitives(tiny=128), 0, "tiny", "128 cannot be written as int8"),
        (primitives(unsigned_small=-1), 0, "unsigned_small", "-1 cannot be written as uint16"),
        (primitives(medium="5"), 0, "medium", "'5' cannot be written as int32"),
        (primitives(large=2**63), 0, "large", "cannot be written as int64"),
        (primitives(id=b"short"), 1, "id", "ids of 16 bytes"),
        (arrays(ids=[IDENTITY, b"short"]), 1, "ids", "ids of 16 bytes"),
        (primitives(text=None), 0, "text", "None cannot be written as string"),
        (primitives(text=b"text"), 0, "text", "cannot be written as string"),
        (primitives(text="k" * 32768), 0, "text", "32768 bytes is longer than 32767"),
        (primitives(maybe_text="é" * 20000), 1, "maybe_text", "40000 bytes is longer than 32767"),
        (primitives(text="\ud800"), 1, "text", "cannot be written as string"),
        (primitives(data=None), 1, "data", "None cannot be written as bytes"),
        (primitives(records=None), 1, "records", "None cannot be written as records"),
        (versioned(branches=None), 0, "branches", "None cannot be written as an array"),
        (versioned(branches=None), 4, "branches", "None cannot be written as an array"),
        (
            versioned(branches=[Branch(title="", leaves=[Leaf(), Leaf(id=2**31)])]),
            0,
            "branches[0].leaves[1].id",
            "int32",
        ),
        (versioned(old=8), 2, "old", "this version has no such field, so it cannot say 8"),
        (versioned(level=0), 1, "level", "no such field"),
        (versioned(owner=Leaf(id=1)), 2, "owner", "no such field"),
        (versioned(numbers=[1]), 0, "numbers", "no such field"),
        (versioned(owner=None), 3, "owner", "None cannot be written as Leaf"),
        (versioned(numbers=[2**63]), 3, "numbers", "cannot be written as an array"),
        (versioned(unknown_tags=((11, b""),)), 1, "tagged fields", "no tagged fields"),
        (versioned(unknown_tags=((2, b""),)), 4, "tagged fields", "unknown tag 2 has a field of its own"),
        (versioned(unknown_tags=((11, b""), (11, b""))), 4, "tagged fields", "comes twice"),
    ],
)
def test_a_value_that_the_version_cannot_carry_is_refused(
    message: Message, version: int, path: str, reason: str
) -> None:
    out = bytearray(b"before")
    with pytest.raises(EncodeError) as caught:
        encoder(type(message), version)(message, out)
    assert caught.value.path == path
    assert reason in caught.value.reason
    assert out == b"before"


def test_ignorable_fields_are_dropped_from_versions_without_them() -> None:
    leaf = Leaf(id=4, name="dropped")
    assert encode(versioned(hint="h", label="l", names=["n"]), 0) == encode(versioned(), 0)
    encoded = encode(versioned(branches=[Branch(title="", leaves=[leaf])]), 0)
    assert decode(Versioned, 0, encoded).branches == [Branch(title="", leaves=[Leaf(id=4)])]


@pytest.mark.parametrize("codec", [decoder, encoder, gatherer])
def test_versions_outside_the_declared_ones_are_refused(codec: Any) -> None:
    with pytest.raises(UnsupportedVersion, match=r"Versioned v5.*versions 0 to 4 are known"):
        codec(Versioned, 5)
    with pytest.raises(UnsupportedVersion, match=r"Retired v0.*no version is in use"):
        codec(Retired, 0)


def test_a_count_is_judged_by_the_least_size_of_its_elements() -> None:
    """A megabyte of zeros must not become a list of a million structs that take more than a byte each."""
    zeros = bytes(10_000)
    with pytest.raises(ProtocolError, match="elements of at least"):
        decode(Versioned, 4, struct.pack(">h", 0) + b"\xff\x4e" + zeros)


class Bare(Struct):
    late: Int32 = field(since=9, default=0)


class Bares(Message, versions=(0, 0)):
    bares: list[Bare]


def test_structs_without_any_byte_still_count_as_one() -> None:
    assert len(decode(Bares, 0, b"\x00\x00\x00\x00").bares) == 0
    with pytest.raises(ProtocolError, match="a length of 1000000, but 0 bytes"):
        decode(Bares, 0, struct.pack(">i", 1_000_000))
