"""What a test asks of a client, whoever wrote it: records in, records out, topics, and offsets by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LIMIT_S = 60


class Record(NamedTuple):
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: tuple[tuple[str, bytes | None], ...] = ()


class ClientError(RuntimeError):
    """The client could not do what it was asked; the text is its own."""


class Client(Protocol):
    """One client library at one broker. Producers are kept between calls, as applications keep them."""

    def create_topic(self, topic: str, partitions: int) -> None: ...

    def delete_topic(self, topic: str) -> None: ...

    def write(
        self, topic: str, partition: int, records: Sequence[Record], *, codec: str = "none", is_idempotent: bool = False
    ) -> list[int]:
        """The offsets of the records, all written with acks=all; ClientError where one was refused."""
        ...

    def read(
        self, topic: str, partitions: Sequence[int], count: int, *, offset: int = 0, is_committed: bool = False
    ) -> Mapping[int, list[Record]]:
        """So many records of these partitions, from an offset on, by partition. None of them is in a group."""
        ...

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        """The first offset whose record is not older."""
        ...

    def close(self) -> None: ...
