"""Records of the topic `__consumer_offsets`, one file a type, which holds key and value."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.catalogue import Catalogue

_ENTRIES = {
    0: ("legacy_offset_commit", "LegacyOffsetCommit"),
    1: ("offset_commit", "OffsetCommit"),
    2: ("group_metadata", "GroupMetadata"),
    3: ("consumer_group_metadata", "ConsumerGroupMetadata"),
    4: ("consumer_group_partition_metadata", "ConsumerGroupPartitionMetadata"),
    5: ("consumer_group_member_metadata", "ConsumerGroupMemberMetadata"),
    6: ("consumer_group_target_assignment_metadata", "ConsumerGroupTargetAssignmentMetadata"),
    7: ("consumer_group_target_assignment_member", "ConsumerGroupTargetAssignmentMember"),
    8: ("consumer_group_current_member_assignment", "ConsumerGroupCurrentMemberAssignment"),
    10: ("share_group_member_metadata", "ShareGroupMemberMetadata"),
    11: ("share_group_metadata", "ShareGroupMetadata"),
    12: ("share_group_target_assignment_metadata", "ShareGroupTargetAssignmentMetadata"),
    13: ("share_group_target_assignment_member", "ShareGroupTargetAssignmentMember"),
    14: ("share_group_current_member_assignment", "ShareGroupCurrentMemberAssignment"),
    15: ("share_group_state_partition_metadata", "ShareGroupStatePartitionMetadata"),
    16: ("consumer_group_regular_expression", "ConsumerGroupRegularExpression"),
    17: ("streams_group_metadata", "StreamsGroupMetadata"),
    19: ("streams_group_member_metadata", "StreamsGroupMemberMetadata"),
    20: ("streams_group_target_assignment_metadata", "StreamsGroupTargetAssignmentMetadata"),
    21: ("streams_group_target_assignment_member", "StreamsGroupTargetAssignmentMember"),
    22: ("streams_group_current_member_assignment", "StreamsGroupCurrentMemberAssignment"),
    23: ("streams_group_topology", "StreamsGroupTopology"),
}
KEYS = Catalogue(__name__, _ENTRIES, "Key")
VALUES = Catalogue(__name__, _ENTRIES, "Value")
