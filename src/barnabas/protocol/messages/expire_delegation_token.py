"""ExpireDelegationToken: change when a delegation token expires, or end it now."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int16, Int32, Int64, Message


class ExpireDelegationTokenRequest(Message, key=40, versions=(1, 2), flexible_since=2):
    hmac: Bytes
    expiry_time_period_ms: Int64


class ExpireDelegationTokenResponse(Message, key=40, versions=(1, 2), flexible_since=2):
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
