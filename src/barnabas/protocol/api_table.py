"""The APIs of Apache Kafka 4.3.1: their numbers, and what their schemas say of each."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from enum import IntEnum


class ApiKey(IntEnum):
    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    VOTE = 52
    BEGIN_QUORUM_EPOCH = 53
    END_QUORUM_EPOCH = 54
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    ASSIGN_REPLICAS_TO_DIRS = 73
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    SHARE_GROUP_HEARTBEAT = 76
    SHARE_GROUP_DESCRIBE = 77
    SHARE_FETCH = 78
    SHARE_ACKNOWLEDGE = 79
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81
    UPDATE_RAFT_VOTER = 82
    INITIALIZE_SHARE_GROUP_STATE = 83
    READ_SHARE_GROUP_STATE = 84
    WRITE_SHARE_GROUP_STATE = 85
    DELETE_SHARE_GROUP_STATE = 86
    READ_SHARE_GROUP_STATE_SUMMARY = 87
    STREAMS_GROUP_HEARTBEAT = 88
    STREAMS_GROUP_DESCRIBE = 89
    DESCRIBE_SHARE_GROUP_OFFSETS = 90
    ALTER_SHARE_GROUP_OFFSETS = 91
    DELETE_SHARE_GROUP_OFFSETS = 92


# Name, oldest and newest version, listeners, and whether the newest version may still change.
ROWS = (
    (ApiKey.PRODUCE, "Produce", 3, 13, "broker"),
    (ApiKey.FETCH, "Fetch", 4, 18, "broker controller"),
    (ApiKey.LIST_OFFSETS, "ListOffsets", 1, 11, "broker"),
    (ApiKey.METADATA, "Metadata", 0, 13, "broker"),
    (ApiKey.OFFSET_COMMIT, "OffsetCommit", 2, 10, "broker"),
    (ApiKey.OFFSET_FETCH, "OffsetFetch", 1, 10, "broker"),
    (ApiKey.FIND_COORDINATOR, "FindCoordinator", 0, 6, "broker"),
    (ApiKey.JOIN_GROUP, "JoinGroup", 0, 9, "broker"),
    (ApiKey.HEARTBEAT, "Heartbeat", 0, 4, "broker"),
    (ApiKey.LEAVE_GROUP, "LeaveGroup", 0, 5, "broker"),
    (ApiKey.SYNC_GROUP, "SyncGroup", 0, 5, "broker"),
    (ApiKey.DESCRIBE_GROUPS, "DescribeGroups", 0, 6, "broker"),
    (ApiKey.LIST_GROUPS, "ListGroups", 0, 5, "broker"),
    (ApiKey.SASL_HANDSHAKE, "SaslHandshake", 0, 1, "broker controller"),
    (ApiKey.API_VERSIONS, "ApiVersions", 0, 4, "broker controller"),
    (ApiKey.CREATE_TOPICS, "CreateTopics", 2, 7, "broker controller"),
    (ApiKey.DELETE_TOPICS, "DeleteTopics", 1, 6, "broker controller"),
    (ApiKey.DELETE_RECORDS, "DeleteRecords", 0, 2, "broker"),
    (ApiKey.INIT_PRODUCER_ID, "InitProducerId", 0, 6, "broker", True),
    (ApiKey.OFFSET_FOR_LEADER_EPOCH, "OffsetForLeaderEpoch", 2, 4, "broker"),
    (ApiKey.ADD_PARTITIONS_TO_TXN, "AddPartitionsToTxn", 0, 5, "broker"),
    (ApiKey.ADD_OFFSETS_TO_TXN, "AddOffsetsToTxn", 0, 4, "broker"),
    (ApiKey.END_TXN, "EndTxn", 0, 5, "broker"),
    (ApiKey.WRITE_TXN_MARKERS, "WriteTxnMarkers", 1, 2, "broker"),
    (ApiKey.TXN_OFFSET_COMMIT, "TxnOffsetCommit", 0, 5, "broker"),
    (ApiKey.DESCRIBE_ACLS, "DescribeAcls", 1, 3, "broker controller"),
    (ApiKey.CREATE_ACLS, "CreateAcls", 1, 3, "broker controller"),
    (ApiKey.DELETE_ACLS, "DeleteAcls", 1, 3, "broker controller"),
    (ApiKey.DESCRIBE_CONFIGS, "DescribeConfigs", 1, 4, "broker controller"),
    (ApiKey.ALTER_CONFIGS, "AlterConfigs", 0, 2, "broker controller"),
    (ApiKey.ALTER_REPLICA_LOG_DIRS, "AlterReplicaLogDirs", 1, 2, "broker"),
    (ApiKey.DESCRIBE_LOG_DIRS, "DescribeLogDirs", 1, 5, "broker"),
    (ApiKey.SASL_AUTHENTICATE, "SaslAuthenticate", 0, 2, "broker controller"),
    (ApiKey.CREATE_PARTITIONS, "CreatePartitions", 0, 3, "broker controller"),
    (ApiKey.CREATE_DELEGATION_TOKEN, "CreateDelegationToken", 1, 3, "broker controller"),
    (ApiKey.RENEW_DELEGATION_TOKEN, "RenewDelegationToken", 1, 2, "broker controller"),
    (ApiKey.EXPIRE_DELEGATION_TOKEN, "ExpireDelegationToken", 1, 2, "broker controller"),
    (ApiKey.DESCRIBE_DELEGATION_TOKEN, "DescribeDelegationToken", 1, 3, "broker controller"),
    (ApiKey.DELETE_GROUPS, "DeleteGroups", 0, 2, "broker"),
    (ApiKey.ELECT_LEADERS, "ElectLeaders", 0, 2, "broker controller"),
    (ApiKey.INCREMENTAL_ALTER_CONFIGS, "IncrementalAlterConfigs", 0, 1, "broker controller"),
    (ApiKey.ALTER_PARTITION_REASSIGNMENTS, "AlterPartitionReassignments", 0, 1, "broker controller"),
    (ApiKey.LIST_PARTITION_REASSIGNMENTS, "ListPartitionReassignments", 0, 0, "broker controller"),
    (ApiKey.OFFSET_DELETE, "OffsetDelete", 0, 0, "broker"),
    (ApiKey.DESCRIBE_CLIENT_QUOTAS, "DescribeClientQuotas", 0, 1, "broker"),
    (ApiKey.ALTER_CLIENT_QUOTAS, "AlterClientQuotas", 0, 1, "broker controller"),
    (ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, "DescribeUserScramCredentials", 0, 0, "broker controller"),
    (ApiKey.ALTER_USER_SCRAM_CREDENTIALS, "AlterUserScramCredentials", 0, 0, "broker controller"),
    (ApiKey.VOTE, "Vote", 0, 2, "controller"),
    (ApiKey.BEGIN_QUORUM_EPOCH, "BeginQuorumEpoch", 0, 1, "controller"),
    (ApiKey.END_QUORUM_EPOCH, "EndQuorumEpoch", 0, 1, "controller"),
    (ApiKey.DESCRIBE_QUORUM, "DescribeQuorum", 0, 2, "broker controller"),
    (ApiKey.ALTER_PARTITION, "AlterPartition", 2, 3, "controller"),
    (ApiKey.UPDATE_FEATURES, "UpdateFeatures", 0, 2, "broker controller"),
    (ApiKey.ENVELOPE, "Envelope", 0, 0, "controller"),
    (ApiKey.FETCH_SNAPSHOT, "FetchSnapshot", 0, 1, "controller"),
    (ApiKey.DESCRIBE_CLUSTER, "DescribeCluster", 0, 2, "broker controller"),
    (ApiKey.DESCRIBE_PRODUCERS, "DescribeProducers", 0, 0, "broker"),
    (ApiKey.BROKER_REGISTRATION, "BrokerRegistration", 0, 4, "controller"),
    (ApiKey.BROKER_HEARTBEAT, "BrokerHeartbeat", 0, 2, "controller"),
    (ApiKey.UNREGISTER_BROKER, "UnregisterBroker", 0, 0, "broker controller"),
    (ApiKey.DESCRIBE_TRANSACTIONS, "DescribeTransactions", 0, 0, "broker"),
    (ApiKey.LIST_TRANSACTIONS, "ListTransactions", 0, 2, "broker"),
    (ApiKey.ALLOCATE_PRODUCER_IDS, "AllocateProducerIds", 0, 0, "controller"),
    (ApiKey.CONSUMER_GROUP_HEARTBEAT, "ConsumerGroupHeartbeat", 0, 1, "broker"),
    (ApiKey.CONSUMER_GROUP_DESCRIBE, "ConsumerGroupDescribe", 0, 1, "broker"),
    (ApiKey.CONTROLLER_REGISTRATION, "ControllerRegistration", 0, 0, "controller"),
    (ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, "GetTelemetrySubscriptions", 0, 0, "broker"),
    (ApiKey.PUSH_TELEMETRY, "PushTelemetry", 0, 0, "broker"),
    (ApiKey.ASSIGN_REPLICAS_TO_DIRS, "AssignReplicasToDirs", 0, 0, "controller"),
    (ApiKey.LIST_CONFIG_RESOURCES, "ListConfigResources", 0, 1, "broker"),
    (ApiKey.DESCRIBE_TOPIC_PARTITIONS, "DescribeTopicPartitions", 0, 0, "broker"),
    (ApiKey.SHARE_GROUP_HEARTBEAT, "ShareGroupHeartbeat", 1, 1, "broker"),
    (ApiKey.SHARE_GROUP_DESCRIBE, "ShareGroupDescribe", 1, 1, "broker"),
    (ApiKey.SHARE_FETCH, "ShareFetch", 1, 2, "broker"),
    (ApiKey.SHARE_ACKNOWLEDGE, "ShareAcknowledge", 1, 2, "broker"),
    (ApiKey.ADD_RAFT_VOTER, "AddRaftVoter", 0, 1, "broker controller"),
    (ApiKey.REMOVE_RAFT_VOTER, "RemoveRaftVoter", 0, 0, "broker controller"),
    (ApiKey.UPDATE_RAFT_VOTER, "UpdateRaftVoter", 0, 0, "controller"),
    (ApiKey.INITIALIZE_SHARE_GROUP_STATE, "InitializeShareGroupState", 0, 0, "broker"),
    (ApiKey.READ_SHARE_GROUP_STATE, "ReadShareGroupState", 0, 0, "broker"),
    (ApiKey.WRITE_SHARE_GROUP_STATE, "WriteShareGroupState", 0, 1, "broker"),
    (ApiKey.DELETE_SHARE_GROUP_STATE, "DeleteShareGroupState", 0, 0, "broker"),
    (ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, "ReadShareGroupStateSummary", 0, 1, "broker"),
    (ApiKey.STREAMS_GROUP_HEARTBEAT, "StreamsGroupHeartbeat", 0, 0, "broker"),
    (ApiKey.STREAMS_GROUP_DESCRIBE, "StreamsGroupDescribe", 0, 0, "broker"),
    (ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, "DescribeShareGroupOffsets", 0, 1, "broker"),
    (ApiKey.ALTER_SHARE_GROUP_OFFSETS, "AlterShareGroupOffsets", 0, 0, "broker"),
    (ApiKey.DELETE_SHARE_GROUP_OFFSETS, "DeleteShareGroupOffsets", 0, 0, "broker"),
)
