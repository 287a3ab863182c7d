"""UpdateFeatures: raise or lower the cluster's finalized features."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bool, Int8, Int16, Int32, Message, String, Struct, field


class FeatureUpdateKey(Struct):
    feature: String
    max_version_level: Int16
    allow_downgrade: Bool = field(until=0, default=False)
    upgrade_type: Int8 = field(since=1, default=1)


class UpdateFeaturesRequest(Message, key=57, versions=(0, 2), flexible_since=0):
    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey]
    validate_only: Bool = field(since=1, default=False)


class UpdatableFeatureResult(Struct):
    feature: String
    error_code: Int16
    error_message: String | None


class UpdateFeaturesResponse(Message, key=57, versions=(0, 2), flexible_since=0):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
    results: list[UpdatableFeatureResult] = field(until=1, default_factory=list, ignorable=True)
