"""Shows the records of the group, transaction and share coordinators.

A key opens with the record's type, a value with its version, both int16; a null value deletes what the key names.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812 (named like the errors beside it)
from typing import Any

from barnabas.cli.dump.decoding import Content
from barnabas.cli.dump.files import DumpError
from barnabas.protocol.codec import decoder
from barnabas.protocol.json_form import json_text, to_json
from barnabas.protocol.schema import Message, ProtocolError
from barnabas.records.batch import Buffer

KEY_VERSION = 0  # What stands in a key's place for a version is its type.
_INT16 = Struct(">h")

Catalogue = Mapping[int, type[Message]]


class CoordinatorDecoder:
    """Decodes the records of one coordinator's topic."""

    def __init__(self, keys: Catalogue, values: Catalogue) -> None:
        self._keys = keys
        self._values = values

    def __call__(self, offset: int, key: Buffer | None, value: Buffer | None) -> Content:
        if key is None:
            raise DumpError(f"the record at offset {offset} has no key, so it is of another topic than the decoder")
        try:
            (kind,) = _INT16.unpack_from(key)
            if kind not in self._keys:
                return Content(f"Unknown record type {kind} at offset {offset}, skipping.", None)
            key_message = _decoded(self._keys[kind], KEY_VERSION, key)
            payload = "<DELETE>" if value is None else self._payload(kind, value)
        except (ProtocolError, StructError) as error:
            return Content(f"Error at offset {offset}, skipping. {error}", None)
        return Content(json_text({"type": str(kind), "data": to_json(key_message, KEY_VERSION)}), payload)

    def _payload(self, kind: int, value: Buffer) -> str:
        (version,) = _INT16.unpack_from(value)
        message = _decoded(self._values[kind], version, value)
        return json_text({"version": str(version), "data": self._form(message, version)})

    def _form(self, message: Message, version: int) -> Any:
        return to_json(message, version)


class GroupDecoder(CoordinatorDecoder):
    """Decodes group records, and in the members of a classic group what consumers wrote there for each other."""

    def _form(self, message: Message, version: int) -> Any:
        from barnabas.protocol.embedded.consumer_protocol_assignment import ConsumerProtocolAssignment
        from barnabas.protocol.embedded.consumer_protocol_subscription import ConsumerProtocolSubscription
        from barnabas.protocol.group_records.group_metadata import GroupMetadataValue

        form = to_json(message, version)
        if isinstance(message, GroupMetadataValue) and message.protocol_type == "consumer":
            for member, shown in zip(message.members, form["members"], strict=True):
                shown["subscription"] = _embedded(
                    ConsumerProtocolSubscription, member.subscription, shown["subscription"]
                )
                shown["assignment"] = _embedded(ConsumerProtocolAssignment, member.assignment, shown["assignment"])
        return form


def consumer_offsets() -> CoordinatorDecoder:
    from barnabas.protocol.group_records import KEYS, VALUES

    return GroupDecoder(KEYS, VALUES)


def transaction_state() -> CoordinatorDecoder:
    from barnabas.protocol.transaction_records import KEYS, VALUES

    return CoordinatorDecoder(KEYS, VALUES)


def share_group_state() -> CoordinatorDecoder:
    from barnabas.protocol.share_records import KEYS, VALUES

    return CoordinatorDecoder(KEYS, VALUES)


def _decoded(message: type[Message], version: int, data: Buffer) -> Message:
    """The message behind the two bytes of type or version; bytes behind the message are passed over."""
    decoded: Message
    decoded, _ = decoder(message, version)(memoryview(data), _INT16.size)
    return decoded


def _embedded(message: type[Message], data: bytes, otherwise: Any) -> Any:
    """A consumer's bytes field by field, or as they were where they are not what a consumer writes."""
    try:
        (version,) = _INT16.unpack_from(data)
        return to_json(_decoded(message, version, data), version)
    except (ProtocolError, StructError):
        return otherwise
