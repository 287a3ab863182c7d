"""A checkpoint of offsets that is written in another thread and takes effect where the logs live.

The slow part, writing and flushing a file beside the checkpoint, may be done anywhere; the rename is for the loop,
which knows whether a newer checkpoint was written meanwhile. After a power cut the old file is there or the new one:
both were true when they were gathered, and offsets of this kind only tell from where to look.
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.log.checkpoint import TopicPartition, format_offsets, write_flushed
from barnabas.ports.disk import Disk

# Another than that of a checkpoint written at once, which may happen at the same time.
SUFFIX = ".background.tmp"


class BackgroundCheckpoint:
    """`run` it in any thread, then let the directories put it in its place, on the loop.

    `writes_before` is how often a checkpoint had been written at once when this one was gathered.
    """

    def __init__(
        self, disk: Disk, directory: str, name: str, offsets: Mapping[TopicPartition, int], writes_before: int
    ) -> None:
        self.directory = directory
        self.path = f"{directory}/{name}"
        self.offsets = offsets
        self.writes_before = writes_before
        self._disk = disk

    def run(self) -> None:
        write_flushed(self._disk, self.path + SUFFIX, format_offsets(self.offsets))

    def put_in_place(self) -> None:
        self._disk.rename(self.path + SUFFIX, self.path)

    def drop(self) -> None:
        """Something newer is there already."""
        self._disk.remove(self.path + SUFFIX)
