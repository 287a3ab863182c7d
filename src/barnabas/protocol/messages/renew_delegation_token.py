"""RenewDelegationToken: prolong a delegation token."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Bytes, Int16, Int32, Int64, Message


class RenewDelegationTokenRequest(Message, key=39, versions=(1, 2), flexible_since=2):
    hmac: Bytes
    renew_period_ms: Int64


class RenewDelegationTokenResponse(Message, key=39, versions=(1, 2), flexible_since=2):
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
