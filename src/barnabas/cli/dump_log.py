"""`kafka-dump-log`: prints what is in the files of a log, and what in them does not fit together."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import TextIO

from barnabas.cli.dump.decoding import Topic, decoder
from barnabas.cli.dump.files import DumpError
from barnabas.cli.dump.findings import Findings
from barnabas.cli.dump.indexes import IndexView, dump_index, dump_transaction_index
from barnabas.cli.dump.segment import SegmentView, dump_segment
from barnabas.cli.dump.snapshot import dump_producer_snapshot
from barnabas.cli.options import ParsedOptions, Tool, UsageError, flag, integer, text
from barnabas.log import names
from barnabas.protocol.errors import ApiError

FILES = text("files", "The files to dump, with commas between them. Required.", argument="file1, file2, ...")
PRINT_DATA_LOG = flag("print-data-log", "Print keys and values of the records. Every decoder implies it.")
DEEP_ITERATION = flag("deep-iteration", "Print the records and not just their batches. --print-data-log implies it.")
SKIP_RECORD_METADATA = flag("skip-record-metadata", "Print keys and values alone; control records become empty lines.")
MAX_BYTES = integer("max-bytes", "Read this much of each log and no more.", argument="size", default=2**31 - 1)
MAX_MESSAGE_SIZE = integer(
    "max-message-size", "The largest batch that an index entry may point at.", argument="size", default=5 * 1024 * 1024
)
VERIFY_INDEX_ONLY = flag("verify-index-only", "Check indexes against their log without printing them.")
INDEX_SANITY_CHECK = flag("index-sanity-check", "Check indexes as a broker does before it decides to rebuild them.")

# By precedence: the first of them that is named decides.
TOPICS = {
    flag(f"{name}-decoder", f"Show records as those of {topic.value}."): topic
    for name, topic in {
        "offsets": Topic.CONSUMER_OFFSETS,
        "transaction-log": Topic.TRANSACTION_STATE,
        "cluster-metadata": Topic.CLUSTER_METADATA,
        "remote-log-metadata": Topic.REMOTE_LOG_METADATA,
        "share-group-state": Topic.SHARE_GROUP_STATE,
    }.items()
}

KEY_DECODER_CLASS = flag("key-decoder-class", "Refused: names a Java class, and there is no Java here.")
VALUE_DECODER_CLASS = flag("value-decoder-class", "Refused: names a Java class, and there is no Java here.")

TOOL = Tool(
    "kafka-dump-log",
    "Prints what is in the files of a log: batches and records, index entries, producers, aborted transactions.",
    (
        FILES,
        PRINT_DATA_LOG,
        DEEP_ITERATION,
        SKIP_RECORD_METADATA,
        MAX_BYTES,
        MAX_MESSAGE_SIZE,
        VERIFY_INDEX_ONLY,
        INDEX_SANITY_CHECK,
        *TOPICS,
        KEY_DECODER_CLASS,
        VALUE_DECODER_CLASS,
    ),
)


_OUTPUT_BYTES = 1 << 18  # A dump can be larger than its log, and small writes would cost more than making the text.


def main() -> None:
    """Run with the words of the command line, and leave quietly when the reader of a pipe has seen enough."""
    if sys.__stdout__ is None:
        sys.exit("The output cannot be written: it is closed")
    out = open(sys.stdout.fileno(), "w", _OUTPUT_BYTES, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    try:
        status = run(sys.argv[1:], out, sys.stderr)
        out.close()
    except OSError as error:
        # What is still buffered goes nowhere, or flushing it at exit would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
        if not isinstance(error, BrokenPipeError):
            print(f"The output cannot be written: {error}", file=sys.stderr)
            status = 1
    sys.exit(status)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Dump the files that the command line names, and give the exit status."""
    return TOOL.run(arguments, lambda options: _dump_files(options, out, err), out=out, err=err)


def _dump_files(options: ParsedOptions, out: TextIO, err: TextIO) -> int:
    paths = _paths(options.value(FILES))
    for refused in (KEY_DECODER_CLASS, VALUE_DECODER_CLASS):
        if options.has(refused):
            raise UsageError(f"--{refused.name} names a Java class, which this tool cannot load; leave it out")
    findings = Findings()
    try:
        for path in paths:
            print(f"Dumping {path}", file=out)
            if not _dump_file(path, options, findings, out, err):
                out.flush()
                print(f"Ignoring unknown file {path}", file=err)
    except BrokenPipeError:
        raise
    except (DumpError, ApiError, OSError) as error:
        out.flush()
        print(error, file=err)
        return 1
    out.flush()
    findings.print(err)
    return 0


def _paths(files: str) -> list[str]:
    """Empty names at the end of the list do not count; doubled and final slashes are dropped."""
    paths = files.split(",")
    while files and paths and not paths[-1]:
        paths.pop()
    return [re.sub("(?<=.)/$", "", re.sub("/+", "/", path)) for path in paths]


def _dump_file(path: str, options: ParsedOptions, findings: Findings, out: TextIO, err: TextIO) -> bool:
    """Whether the file is of a kind that can be dumped."""
    _, dot, ending = os.path.basename(path).rpartition(".")
    kind = dot + ending
    if kind in (names.LOG, names.METADATA_SNAPSHOT):
        dump_segment(path, _segment_view(options), findings, out)
    elif kind in (names.OFFSET_INDEX, names.TIME_INDEX):
        dump_index(path, _index_view(options), findings, out)
    elif kind == names.TRANSACTION_INDEX:
        dump_transaction_index(path, out)
    elif kind == names.PRODUCER_SNAPSHOT:
        dump_producer_snapshot(path, out, err)
    else:
        return False
    return True


def _segment_view(options: ParsedOptions) -> SegmentView:
    topic = next((topic for option, topic in TOPICS.items() if options.has(option)), None)
    shows_contents = topic is not None or options.has(PRINT_DATA_LOG)
    return SegmentView(
        shows_records=shows_contents or options.has(DEEP_ITERATION),
        decode=decoder(topic) if shows_contents else None,
        skips_metadata=options.has(SKIP_RECORD_METADATA),
        limit_bytes=options.value(MAX_BYTES),
    )


def _index_view(options: ParsedOptions) -> IndexView:
    return IndexView(
        checks_sanity=options.has(INDEX_SANITY_CHECK),
        verifies_only=options.has(VERIFY_INDEX_ONLY),
        message_bytes_max=options.value(MAX_MESSAGE_SIZE),
    )
