"""ApiVersions: which APIs this node serves, in which versions, and which features the cluster has."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int16, Int32, Int64, Message, String, Struct, field


class ApiVersionsRequest(Message, key=18, versions=(0, 4), flexible_since=3):
    client_software_name: String = field(since=3, default="", ignorable=True)
    client_software_version: String = field(since=3, default="", ignorable=True)


class ApiVersion(Struct):
    api_key: Int16
    min_version: Int16
    max_version: Int16


class SupportedFeatureKey(Struct):
    name: String
    min_version: Int16
    max_version: Int16


class FinalizedFeatureKey(Struct):
    name: String
    max_version_level: Int16
    min_version_level: Int16


class ApiVersionsResponse(Message, key=18, versions=(0, 4), flexible_since=3):
    error_code: Int16
    api_keys: list[ApiVersion]
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    supported_features: list[SupportedFeatureKey] = field(since=3, default_factory=list, tag=0, ignorable=True)
    finalized_features_epoch: Int64 = field(since=3, default=-1, tag=1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = field(since=3, default_factory=list, tag=2, ignorable=True)
    zk_migration_ready: Bool = field(since=3, default=False, tag=3, ignorable=True)
