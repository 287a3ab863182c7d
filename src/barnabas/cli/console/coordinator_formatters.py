"""Records of Kafka's own topics as the console consumer prints them: a JSON object each, and no end of a line.

Records without a key and of other types than a formatter is for are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812 (named like the errors beside it)
from typing import Any, Final

from confluent_kafka import Message as Record

from barnabas.cli.console.deserializers import DeserializationError
from barnabas.protocol.codec import decoder
from barnabas.protocol.json_form import json_text, to_json
from barnabas.protocol.schema import Message, ProtocolError

KEY_VERSION: Final = 0  # What stands in a key's place for a version is its type.
OFFSET_COMMITS: Final = frozenset({0, 1})
GROUP_METADATA: Final = frozenset({2})

Catalogue = Mapping[int, type[Message]]
_INT16: Final = Struct(">h")


class CoordinatorFormatter:
    def __init__(self, keys: Catalogue, values: Catalogue, only: frozenset[int] | None = None) -> None:
        self._keys = keys
        self._values = values
        self._only = only

    def __call__(self, record: Record) -> bytes:
        key, value = record.key(), record.value()
        if key is None:
            return b""
        try:
            (kind,) = _INT16.unpack_from(key)
            if kind not in self._keys or (self._only is not None and kind not in self._only):
                return b""
            shown: dict[str, Any] = {
                "key": {"type": kind, "data": _form(self._keys[kind], KEY_VERSION, key)},
                "value": None,
            }
            if value is not None:
                (version,) = _INT16.unpack_from(value)
                shown["value"] = {"version": version, "data": _form(self._values[kind], version, value)}
        except (ProtocolError, StructError) as error:
            raise DeserializationError(f"Could not read record at offset {record.offset()} due to: {error}") from error
        return json_text(shown).encode()


def _form(message: type[Message], version: int, data: bytes) -> Any:
    decoded, _ = decoder(message, version)(memoryview(data), _INT16.size)
    return to_json(decoded, version)


def group_offsets() -> CoordinatorFormatter:
    from barnabas.protocol.group_records import KEYS, VALUES

    return CoordinatorFormatter(KEYS, VALUES, OFFSET_COMMITS)


def group_metadata() -> CoordinatorFormatter:
    from barnabas.protocol.group_records import KEYS, VALUES

    return CoordinatorFormatter(KEYS, VALUES, GROUP_METADATA)


def transactions() -> CoordinatorFormatter:
    from barnabas.protocol.transaction_records import KEYS, VALUES

    return CoordinatorFormatter(KEYS, VALUES)


def share_groups() -> CoordinatorFormatter:
    from barnabas.protocol.share_records import KEYS, VALUES

    return CoordinatorFormatter(KEYS, VALUES)


COORDINATOR_FORMATTERS: Final[Mapping[str, Callable[[], CoordinatorFormatter]]] = {
    "org.apache.kafka.tools.consumer.OffsetsMessageFormatter": group_offsets,
    "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter": group_metadata,
    "org.apache.kafka.tools.consumer.TransactionLogMessageFormatter": transactions,
    "org.apache.kafka.tools.consumer.group.share.ShareGroupStateMessageFormatter": share_groups,
}
