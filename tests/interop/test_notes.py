"""What five study notes on Kafka's insides have their readers type, typed at one node of ours.

The commands stand here as they stand in the notes; only the address of the broker is put in their place. Where a note
waits for minutes, the node looks more often and records carry the time that would have passed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Producer

from interop.our_broker import OurBroker

BROKER_IN_THE_NOTES = re.compile(r"localhost:9092|kafka1:9091")
MINUTE_MS = 60_000
LIMIT_S = 60
PAUSE_S = 0.05

# How often a node looks at its logs, which by default is minutes.
IMPATIENT = {
    "log.initial.task.delay.ms": "0",
    "log.retention.check.interval.ms": "100",
    "log.cleaner.backoff.ms": "100",
    "replica.high.watermark.checkpoint.interval.ms": "100",
}


class Notes:
    """A shell beside a running node, in a folder of its own."""

    def __init__(self, broker: OurBroker, folder: Path) -> None:
        self._broker = broker
        self._folder = folder

    def run(self, commands: str, *, status: int = 0) -> str:
        """Type the commands; what they print, where they end as they should."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", BROKER_IN_THE_NOTES.sub(self._broker.bootstrap_servers, commands)],
            cwd=self._folder,
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def later(self, topic: str, partition: int, minutes: int, value: str = "later") -> None:
        """Send a record that was made so many minutes from now, or before now."""
        producer = Producer({"bootstrap.servers": self._broker.bootstrap_servers})
        at_ms = int(time.time() * 1000) + minutes * MINUTE_MS
        producer.produce(topic, value, partition=partition, timestamp=at_ms)
        assert producer.flush(LIMIT_S) == 0

    def partition_folder(self, topic: str, partition: int) -> Path:
        return self._broker.log_directory / f"{topic}-{partition}"

    def segments(self, topic: str, partition: int) -> list[int]:
        """The base offsets of a partition's segments, which are their names."""
        return sorted(int(path.stem) for path in self.partition_folder(topic, partition).glob("*.log"))

    def wait_until(self, holds: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + LIMIT_S
        while not holds():
            assert time.monotonic() < deadline_s, self._broker.log()
            time.sleep(PAUSE_S)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    folder = tmp_path / "folder"
    folder.mkdir()
    with OurBroker(tmp_path / "data", IMPATIENT) as broker:
        yield Notes(broker, folder)


CREATE_SEGMENT_TEST_TOPIC = (
    "kafka-topics --bootstrap-server localhost:9092 --create --topic segment-test-topic --partitions 3"
)
WRITE_MESSAGES = """
for i in {1..2000}
do
echo "test message send test-i" >> message.log
done
"""
SEND_MESSAGES = "kafka-console-producer --bootstrap-server localhost:9092 --topic segment-test-topic < message.log"


def busiest(notes: Notes, topic: str) -> int:
    """The partition with the most segments: a producer fills one for a while before it takes another."""
    return max(range(3), key=lambda partition: len(notes.segments(topic, partition)))


def test_a_segment_of_ten_kilobytes_is_rolled_and_dumped(notes: Notes) -> None:
    assert notes.run(CREATE_SEGMENT_TEST_TOPIC) == "Created topic segment-test-topic.\n"
    changed = notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --alter --add-config segment.bytes=10240"
    )
    assert changed == "Completed updating config for topic segment-test-topic.\n"
    shown = notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --all --describe | grep segment.bytes"
    )
    assert shown.strip() == (
        "segment.bytes=10240 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:segment.bytes=10240, "
        "STATIC_BROKER_CONFIG:log.segment.bytes=1073741824, DEFAULT_CONFIG:log.segment.bytes=1073741824}"
    )
    notes.run(WRITE_MESSAGES)
    notes.run(SEND_MESSAGES)
    partition = busiest(notes, "segment-test-topic")
    segments = notes.segments("segment-test-topic", partition)
    assert len(segments) > 1
    folder = notes.partition_folder("segment-test-topic", partition)
    for base_offset in segments:
        dumped = notes.run(f"cd {folder} && kafka-dump-log --print-data-log --files {base_offset:020}.log")
        assert f"Log starting offset: {base_offset}\nbaseOffset: {base_offset} " in dumped
        assert " payload: test message send test-i\n" in dumped
        # A batch that alone is larger than a segment has one to itself.
        assert dumped.count("baseOffset: ") == 1 or (folder / f"{base_offset:020}.log").stat().st_size <= 10240
    read = notes.run(
        "kafka-console-consumer --bootstrap-server localhost:9092 --topic segment-test-topic --from-beginning"
        " --max-messages 2000 | sort | uniq -c"
    )
    assert "2000 test message send test-i\n" in read


def test_a_segment_of_a_minute_is_rolled(notes: Notes) -> None:
    notes.run(CREATE_SEGMENT_TEST_TOPIC)
    notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --alter --add-config segment.bytes=10240"
    )
    notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --alter --delete-config segment.bytes"
    )
    notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --alter --add-config segment.ms=60000"
    )
    notes.run(WRITE_MESSAGES)
    notes.run(SEND_MESSAGES)
    assert [notes.segments("segment-test-topic", partition) for partition in range(3)] == [[0], [0], [0]]
    for partition in range(3):
        notes.later("segment-test-topic", partition, minutes=0)
        before = notes.segments("segment-test-topic", partition)
        notes.later("segment-test-topic", partition, minutes=2)
        assert len(notes.segments("segment-test-topic", partition)) == len(before) + 1


def test_settings_are_found_by_the_broker_s_name_for_them(notes: Notes) -> None:
    notes.run(CREATE_SEGMENT_TEST_TOPIC)
    describe_topic = (
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --all --describe"
    )
    assert notes.run(f"{describe_topic} | grep log.index.interval.bytes").strip() == (
        "index.interval.bytes=4096 sensitive=false synonyms={DEFAULT_CONFIG:log.index.interval.bytes=4096}"
    )
    assert notes.run(f"{describe_topic} | grep log.cleanup.policy").strip() == (
        "cleanup.policy=delete sensitive=false synonyms={DEFAULT_CONFIG:log.cleanup.policy=delete}"
    )
    assert "  retention.ms=604800000 sensitive=false " in notes.run(f"{describe_topic} | grep retention")
    hours = notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type brokers --entity-name 0 --all --describe"
        " | grep log.retention.hours"
    )
    assert hours.strip() == (
        "log.retention.hours=168 sensitive=false "
        "synonyms={STATIC_BROKER_CONFIG:log.retention.hours=168, DEFAULT_CONFIG:log.retention.hours=168}"
    )


def test_segments_are_deleted_when_there_are_more_than_ten_kilobytes_of_them(notes: Notes) -> None:
    notes.run(CREATE_SEGMENT_TEST_TOPIC)
    notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --alter --add-config segment.bytes=10240"
    )
    notes.run(WRITE_MESSAGES)
    notes.run(SEND_MESSAGES)
    partition = busiest(notes, "segment-test-topic")
    segments = notes.segments("segment-test-topic", partition)
    notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --alter --add-config retention.bytes=10240"
    )
    # The newest is never deleted for its size; what is before it is, as far as ten kilobytes are left.
    notes.wait_until(lambda: set(notes.segments("segment-test-topic", partition)) <= set(segments[-2:]))
    assert notes.segments("segment-test-topic", partition)[-1] == segments[-1]


def test_segments_are_deleted_when_they_are_older_than_three_minutes(notes: Notes) -> None:
    notes.run(CREATE_SEGMENT_TEST_TOPIC)
    notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name segment-test-topic"
        " --alter --add-config retention.ms=180000"
    )
    notes.later("segment-test-topic", 0, minutes=-2)
    notes.later("segment-test-topic", 1, minutes=-4)
    # The segment that is written to goes as well, when nothing in it is young enough.
    notes.wait_until(lambda: notes.segments("segment-test-topic", 1) == [1])
    assert notes.segments("segment-test-topic", 0) == [0]


SEND_KEYED_MESSAGES = (
    "kafka-console-producer --bootstrap-server localhost:9092 --topic compact-test-topic < key-message.log"
    " --property key.separator=: --property parse.key=true"
)


def test_a_compacted_topic_keeps_the_newest_message_of_each_key(notes: Notes) -> None:
    notes.run("kafka-topics --bootstrap-server localhost:9092 --create --topic compact-test-topic --partitions 3")
    alter = (
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name compact-test-topic --alter"
    )
    notes.run(f"{alter} --add-config retention.bytes=10240")
    notes.run(f"{alter} --add-config cleanup.policy=compact")
    # The notes stop here; for something to be compacted, segments have to be full and keys have to come again.
    notes.run(f"{alter} --add-config segment.bytes=10240,min.cleanable.dirty.ratio=0.01")
    for time_sent in ("first", "second", "third"):
        notes.run(
            f"""
            rm -f key-message.log
            for i in {{1..2000}}
            do
            echo "$i:{time_sent} message send $i" >> key-message.log
            done
            """
        )
        notes.run(SEND_KEYED_MESSAGES)
    notes.wait_until(lambda: not _is_on_disk(notes, "compact-test-topic", b"first message"))
    read = notes.run(
        "kafka-console-consumer --bootstrap-server localhost:9092 --topic compact-test-topic --from-beginning"
        " --timeout-ms 3000 --formatter-property print.key=true --formatter-property key.separator=: 2> /dev/null"
    )
    newest = dict(line.split(":") for line in read.splitlines())
    assert newest == {str(i): f"third message send {i}" for i in range(1, 2001)}
    # What is compacted away was at offsets that are now gaps, not given to other records.
    (busy, *_) = notes.run(
        "kafka-get-offsets --bootstrap-server localhost:9092 --topic compact-test-topic"
    ).splitlines()
    assert int(busy.rsplit(":", 1)[1]) > 600 * 3


def _is_on_disk(notes: Notes, topic: str, value: bytes) -> bool:
    for partition in range(3):
        for segment in notes.partition_folder(topic, partition).glob("*.log"):
            # A segment that was just compacted has been replaced; the next look finds the other.
            with suppress(FileNotFoundError):
                if value in segment.read_bytes():
                    return True
    return False


def test_a_message_without_a_key_cannot_be_compacted(notes: Notes) -> None:
    notes.run("kafka-topics --bootstrap-server localhost:9092 --create --topic compact-test-topic --partitions 3")
    notes.run(
        "kafka-configs --bootstrap-server localhost:9092 --entity-type topics --entity-name compact-test-topic"
        " --alter --add-config cleanup.policy=compact"
    )
    refused = notes.run(
        "echo 'no key' | kafka-console-producer --bootstrap-server localhost:9092 --topic compact-test-topic"
    )
    assert "org.apache.kafka.common.InvalidRecordException" in refused


def test_high_watermarks_are_written_down(notes: Notes) -> None:
    notes.run("kafka-topics --bootstrap-server localhost:9092 --create --topic peter-test01 --partitions 1")
    notes.run("seq 6 | kafka-console-producer --bootstrap-server localhost:9092 --topic peter-test01")
    written = notes.partition_folder("peter-test01", 0).parent / "replication-offset-checkpoint"
    notes.wait_until(lambda: "peter-test01 0 6" in written.read_text().splitlines())


def test_commands_of_older_kafkas_are_answered_with_those_of_today(notes: Notes) -> None:
    advice = notes.run(
        "kafka-topics --zookeeper zk1:2181 --create --topic chat-test --partitions 3 --replication-factor 1", status=1
    )
    assert advice.startswith("zookeeper is not a recognized option\n")
    typed_instead = advice.splitlines()[-1].strip()
    assert typed_instead.startswith("kafka-topics --bootstrap-server localhost:9092 --create --topic chat-test ")
    assert notes.run(typed_instead) == "Created topic chat-test.\n"
    created = notes.run(
        "kafka-topics --bootstrap-server kafka1:9091 --topic --create --topic chat-test-2 --partitions 3"
        " --replication-factor 1"
    )
    assert created == "Created topic chat-test-2.\n"
    changed = notes.run(
        "kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type topics --entity-name chat-test"
        " --add-config unclean.leader.election.enable=true"
    )
    assert changed == "Completed updating config for topic chat-test.\n"
    described = notes.run("kafka-topics --bootstrap-server kafka1:9091 --topic chat-test --describe")
    assert re.findall(r"Partition: (\d)\tLeader: 0\tReplicas: 0\tIsr: 0", described) == ["0", "1", "2"]
    assert "unclean.leader.election.enable=true" in described
