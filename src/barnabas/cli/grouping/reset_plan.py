"""Offsets by partition and group in files of comma-separated values.

A line is `topic,partition,offset` where one group is meant, and `group,topic,partition,offset` where there are several.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from barnabas.cli.grouping.failures import GroupCommandError
from barnabas.cli.options import parse_integer
from barnabas.log.checkpoint import TopicPartition

Offsets = dict[TopicPartition, int]
Plan = dict[str, Offsets]

# Kafka's tool puts quotes around what holds a sign up to the comma, and, so as not to look too long, around long texts.
_FIRST_SAFE: Final = "-"
_LOOKED_AT_MAX: Final = 24
_COLUMNS_OF_ONE_GROUP: Final = 3


def read_plan(path: str, group_ids: Sequence[str]) -> Plan:
    """The offsets in a file; lines without groups are those of the one that was named."""
    try:
        rows = list(csv.reader(Path(path).read_text().rstrip("\n").split("\n")))
    except (OSError, ValueError, csv.Error) as error:
        raise GroupCommandError(f"java.io.IOException: Unable to read file {path}") from error
    is_of_one_group = len(group_ids) == 1 and len(rows[0]) == _COLUMNS_OF_ONE_GROUP
    plan: Plan = {}
    for number, row in enumerate(rows, 1):
        try:
            group_id, topic, partition, offset = [group_ids[0], *row] if is_of_one_group else row
            place = TopicPartition(topic, parse_integer(partition.strip()))
            plan.setdefault(group_id, {})[place] = parse_integer(offset.strip(), bits=64)
        except ValueError:
            form = "topic,partition,offset" if is_of_one_group else "group,topic,partition,offset"
            raise GroupCommandError(f"line {number} of {path} is not {form}: {','.join(row)}") from None
    return plan


def plan_lines(plan: Mapping[str, Mapping[TopicPartition, int]], *, names_groups: bool) -> Iterator[str]:
    for group_id, offsets in plan.items():
        for (topic, partition), offset in offsets.items():
            texts = [group_id, topic] if names_groups else [topic]
            yield ",".join([*map(_quoted, texts), str(partition), str(offset)])


def _quoted(text: str) -> str:
    if len(text) <= _LOOKED_AT_MAX and all(sign >= _FIRST_SAFE for sign in text):
        return text
    return '"' + text.replace('"', '""') + '"'
