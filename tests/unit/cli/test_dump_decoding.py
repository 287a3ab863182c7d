"""How the records of Kafka's own topics are shown, typed out."""

from __future__ import annotations

from struct import pack

import pytest

from barnabas.cli.dump.control import control_text
from barnabas.cli.dump.decoding import Content, Topic, decoder
from barnabas.cli.dump.files import DumpError
from barnabas.protocol.codec import encode
from barnabas.protocol.control_records.kraft_version import KRaftVersionRecord
from barnabas.protocol.control_records.leader_change import LeaderChangeMessage, Voter
from barnabas.protocol.embedded.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from barnabas.protocol.group_records.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from barnabas.protocol.group_records.offset_commit import OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.metadata_records.no_op import NoOpRecord
from barnabas.protocol.metadata_records.topic import TopicRecord
from barnabas.protocol.remote_log_records import remote_log_segment_metadata as remote
from barnabas.protocol.schema import Message, Uuid
from barnabas.protocol.transaction_records.transaction_log import TransactionLogKey, TransactionLogValue
from barnabas.protocol.varint import unsigned_varint
from barnabas.records.record import Record

ID = Uuid(bytes(range(16)))


def keyed(message: Message) -> bytes:
    assert message.api_key is not None
    return pack(">h", message.api_key) + encode(message, 0)


def versioned(message: Message, version: int) -> bytes:
    return pack(">h", version) + encode(message, version)


def framed(message: Message, version: int = 0) -> bytes:
    assert message.api_key is not None
    return b"".join(map(unsigned_varint, (1, message.api_key, version))) + encode(message, version)


def test_text_is_shown_as_text() -> None:
    assert decoder(None)(0, b"key", None) == Content("key", None)


def test_a_committed_offset() -> None:
    decode = decoder(Topic.CONSUMER_OFFSETS)
    key = keyed(OffsetCommitKey(group="g", topic="t", partition=2))
    value = versioned(OffsetCommitValue(offset=7, leader_epoch=1, metadata="m", commit_timestamp=5), 3)
    shown_key = '{"type":"1","data":{"group":"g","topic":"t","partition":2}}'
    assert decode(0, key, value) == Content(
        shown_key, '{"version":"3","data":{"offset":7,"leaderEpoch":1,"metadata":"m","commitTimestamp":5}}'
    )
    assert decode(0, key, None) == Content(shown_key, "<DELETE>")


def test_what_consumers_of_a_classic_group_say_to_each_other() -> None:
    assignment = ConsumerProtocolAssignment(assigned_partitions=[TopicPartition(topic="t", partitions=[0, 1])])
    member = MemberMetadata(
        member_id="m", client_id="c", client_host="h", session_timeout=9, subscription=b"?", assignment=b""
    )
    member.assignment = versioned(assignment, 0)
    group = GroupMetadataValue(protocol_type="consumer", generation=1, protocol="range", leader="m", members=[member])
    decode = decoder(Topic.CONSUMER_OFFSETS)
    key = keyed(GroupMetadataKey(group="g"))
    assert decode(0, key, versioned(group, 0)).payload == (
        '{"version":"0","data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":"m","members":['
        '{"memberId":"m","clientId":"c","clientHost":"h","sessionTimeout":9,"subscription":"Pw==",'
        '"assignment":{"assignedPartitions":[{"topic":"t","partitions":[0,1]}],"userData":null}}]}}'
    )
    group.protocol_type = "connect"
    payload = decode(0, key, versioned(group, 0)).payload
    assert payload is not None
    assert '"assignment":"AAAAAAABAAF0AAAAAgAAAAAAAAAB/////w=="' in payload


def test_a_transactional_id() -> None:
    value = TransactionLogValue(
        producer_id=9,
        producer_epoch=0,
        transaction_timeout_ms=60,
        transaction_status=0,
        transaction_partitions=None,
        transaction_last_update_timestamp_ms=5,
        transaction_start_timestamp_ms=-1,
    )
    key = keyed(TransactionLogKey(transactional_id="x"))
    assert decoder(Topic.TRANSACTION_STATE)(0, key, versioned(value, 1)) == Content(
        '{"type":"0","data":{"transactionalId":"x"}}',
        '{"version":"1","data":{"producerId":9,"producerEpoch":0,"transactionTimeoutMs":60,"transactionStatus":0,'
        '"transactionPartitions":null,"transactionLastUpdateTimestampMs":5,"transactionStartTimestampMs":-1}}',
    )


def test_a_record_of_an_unknown_type_is_passed_over() -> None:
    decode = decoder(Topic.SHARE_GROUP_STATE)
    assert decode(5, pack(">h", 99), b"") == Content("Unknown record type 99 at offset 5, skipping.", None)


@pytest.mark.parametrize("key", [b"", b"\x00", b"\x00\x01\x00"])
def test_a_malformed_record_is_told_of_and_passed_over(key: bytes) -> None:
    content = decoder(Topic.CONSUMER_OFFSETS)(5, key, b"")
    assert content.payload is None
    assert content.key is not None
    assert content.key.startswith("Error at offset 5, skipping. ")


def test_a_coordinator_writes_no_record_without_a_key() -> None:
    with pytest.raises(DumpError):
        decoder(Topic.CONSUMER_OFFSETS)(5, None, b"value")


def test_metadata_records_carry_their_name() -> None:
    decode = decoder(Topic.CLUSTER_METADATA)
    assert decode(0, None, framed(TopicRecord(name="t", topic_id=ID))) == Content(
        None, '{"type":"TOPIC_RECORD","version":0,"data":{"name":"t","topicId":"AAECAwQFBgcICQoLDA0ODw"}}'
    )
    assert decode(0, None, framed(NoOpRecord())) == Content(None, '{"type":"NO_OP_RECORD","version":0,"data":{}}')


@pytest.mark.parametrize("topic", [Topic.CLUSTER_METADATA, Topic.REMOTE_LOG_METADATA])
@pytest.mark.parametrize("value", [None, b"", b"\x00\x00\x00", b"\x01\x63\x00", b"\x01\x00\x63", b"\x01\x00\x00"])
def test_what_is_not_framed_as_it_should_be_is_passed_over(topic: Topic, value: bytes | None) -> None:
    content = decoder(topic)(5, None, value)
    assert content.key is None
    assert content.payload is not None
    assert content.payload.startswith("Error at ")
    assert " 5, skipping. " in content.payload


def test_bytes_behind_a_metadata_record_are_an_error() -> None:
    content = decoder(Topic.CLUSTER_METADATA)(5, None, framed(NoOpRecord()) + b"?")
    assert content.payload == "Error at 5, skipping. 1 bytes follow a record of type 20"


def test_a_frame_of_another_version_is_not_read() -> None:
    content = decoder(Topic.CLUSTER_METADATA)(5, None, b"\x02" + framed(NoOpRecord())[1:])
    assert content.payload == "Error at 5, skipping. the frame is of version 2, not 1"


def segment(
    *epochs: tuple[int, int], state: int = 1, start_offset: int = 10, custom_metadata: bytes | None = None
) -> bytes:
    return framed(
        remote.RemoteLogSegmentMetadataRecord(
            remote_log_segment_id=remote.RemoteLogSegmentIdEntry(
                topic_id_partition=remote.TopicIdPartitionEntry(name="t", id=ID, partition=3), id=ID
            ),
            start_offset=start_offset,
            end_offset=20,
            broker_id=1,
            max_timestamp_ms=5,
            event_timestamp_ms=6,
            segment_leader_epochs=[
                remote.SegmentLeaderEpochEntry(leader_epoch=epoch, offset=offset) for epoch, offset in epochs
            ],
            segment_size_in_bytes=7,
            custom_metadata=custom_metadata,
            remote_log_segment_state=state,
        )
    )


def test_a_remote_segment_is_told_in_javas_manner() -> None:
    decode = decoder(Topic.REMOTE_LOG_METADATA)
    assert decode(0, None, segment((2, 15), (1, 10), custom_metadata=b"abc")) == Content(
        None,
        "RemoteLogSegmentMetadata{remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition=AAECAwQFBgcICQoLDA0ODw:t-3,"
        " id=AAECAwQFBgcICQoLDA0ODw}, startOffset=10, endOffset=20, brokerId=1, maxTimestampMs=5, eventTimestampMs=6,"
        " segmentLeaderEpochs={1=10, 2=15}, segmentSizeInBytes=7, customMetadata=Optional[CustomMetadata{3 bytes}],"
        " state=COPY_SEGMENT_FINISHED, txnIdxEmpty=false}",
    )


@pytest.mark.parametrize("value", [segment(), segment((1, 10), state=9), segment((1, 10), start_offset=21)])
def test_a_remote_segment_that_cannot_be_is_passed_over(value: bytes) -> None:
    payload = decoder(Topic.REMOTE_LOG_METADATA)(5, None, value).payload
    assert payload is not None
    assert payload.startswith("Error at offset 5, skipping. ")


def control(kind: int, value: bytes | bytearray) -> str:
    return control_text(Record(0, 0, pack(">hh", 0, kind), bytes(value)))


def test_the_quorums_records_are_shown_field_by_field() -> None:
    voters = [Voter(voter_id=1)]
    change = LeaderChangeMessage(version=0, leader_id=1, voters=voters, granting_voters=voters)
    assert control(2, encode(change, 0)) == (
        ' LeaderChange: {"version":0,"leaderId":1,"voters":[{"voterId":1}],"grantingVoters":[{"voterId":1}]}'
    )
    version = KRaftVersionRecord(version=0, kraft_version=1)
    assert control(5, encode(version, 0)) == ' KRaftVersion {"version":0,"kRaftVersion":1}'
    assert control(77, b"") == " controlType: UNKNOWN(77)"
