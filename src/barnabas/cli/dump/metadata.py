"""Shows the records of `__cluster_metadata`, of its log as well as of its snapshots."""

from __future__ import annotations

import re

from barnabas.cli.dump.decoding import Content
from barnabas.protocol.framed_record import FrameError, decode_framed
from barnabas.protocol.json_form import json_text, to_json
from barnabas.protocol.metadata_records import RECORDS
from barnabas.records.batch import Buffer

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


def decode_metadata(offset: int, key: Buffer | None, value: Buffer | None) -> Content:  # noqa: ARG001 (no keys here)
    try:
        message, version = decode_framed(RECORDS, value)
    except FrameError as error:
        return Content(None, f"Error at {offset}, skipping. {error}")
    name = _WORD_START.sub("_", type(message).__name__).upper()
    return Content(None, json_text({"type": name, "version": version, "data": to_json(message, version)}))
