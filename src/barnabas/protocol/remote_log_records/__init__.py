"""Records of the topic `__remote_log_metadata`, one file a type."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.catalogue import Catalogue

_ENTRIES = {
    0: ("remote_log_segment_metadata", "RemoteLogSegmentMetadataRecord"),
    1: ("remote_log_segment_metadata_update", "RemoteLogSegmentMetadataUpdateRecord"),
    2: ("remote_partition_delete_metadata", "RemotePartitionDeleteMetadataRecord"),
    3: ("remote_log_segment_metadata_snapshot", "RemoteLogSegmentMetadataSnapshotRecord"),
}
RECORDS = Catalogue(__name__, _ENTRIES)
