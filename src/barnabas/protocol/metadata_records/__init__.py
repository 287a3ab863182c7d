"""Records of the topic `__cluster_metadata`, one file a type."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.catalogue import Catalogue

_ENTRIES = {
    0: ("register_broker", "RegisterBrokerRecord"),
    1: ("unregister_broker", "UnregisterBrokerRecord"),
    2: ("topic", "TopicRecord"),
    3: ("partition", "PartitionRecord"),
    4: ("config", "ConfigRecord"),
    5: ("partition_change", "PartitionChangeRecord"),
    7: ("fence_broker", "FenceBrokerRecord"),
    8: ("unfence_broker", "UnfenceBrokerRecord"),
    9: ("remove_topic", "RemoveTopicRecord"),
    10: ("delegation_token", "DelegationTokenRecord"),
    11: ("user_scram_credential", "UserScramCredentialRecord"),
    12: ("feature_level", "FeatureLevelRecord"),
    14: ("client_quota", "ClientQuotaRecord"),
    15: ("producer_ids", "ProducerIdsRecord"),
    17: ("broker_registration_change", "BrokerRegistrationChangeRecord"),
    18: ("access_control_entry", "AccessControlEntryRecord"),
    19: ("remove_access_control_entry", "RemoveAccessControlEntryRecord"),
    20: ("no_op", "NoOpRecord"),
    21: ("zk_migration_state", "ZkMigrationStateRecord"),
    22: ("remove_user_scram_credential", "RemoveUserScramCredentialRecord"),
    23: ("begin_transaction", "BeginTransactionRecord"),
    24: ("end_transaction", "EndTransactionRecord"),
    25: ("abort_transaction", "AbortTransactionRecord"),
    26: ("remove_delegation_token", "RemoveDelegationTokenRecord"),
    27: ("register_controller", "RegisterControllerRecord"),
    28: ("clear_elr", "ClearElrRecord"),
}
RECORDS = Catalogue(__name__, _ENTRIES)
