"""What a broker registers with, as a controller reads it."""

from __future__ import annotations

from barnabas.broker.registration import registration_request
from barnabas.config.listeners import Endpoint, SecurityProtocol
from barnabas.metadata.features import SUPPORTED_FEATURES
from barnabas.protocol.codec import decode, encode
from barnabas.protocol.messages.broker_registration import BrokerRegistrationRequest
from barnabas.protocol.uuid import Uuid


def test_a_registration_says_where_the_broker_listens_what_it_knows_and_where_its_logs_are() -> None:
    first, second = Uuid(b"a" * 16), Uuid(b"b" * 16)
    request = registration_request(
        broker_id=7,
        cluster_id="c",
        incarnation_id=Uuid(b"i" * 16),
        listeners=[
            Endpoint("CLIENTS", SecurityProtocol.PLAINTEXT, "host", 9092),
            Endpoint("BROKERS", SecurityProtocol.SASL_SSL, "inside", 9094),
        ],
        rack="r",
        directories=[second, first],
        previous_broker_epoch=42,
    )
    read = decode(BrokerRegistrationRequest, 4, encode(request, 4))
    assert [(at.name, at.host, at.port, at.security_protocol) for at in read.listeners] == [
        ("CLIENTS", "host", 9092, 0),
        ("BROKERS", "inside", 9094, 3),
    ]
    assert {each.name: (each.min_supported_version, each.max_supported_version) for each in read.features} == {
        name: tuple(levels) for name, levels in SUPPORTED_FEATURES.items()
    }
    assert (read.rack, read.log_dirs, read.previous_broker_epoch) == ("r", [first, second], 42)
    # What an older controller cannot be told is left out.
    older = decode(BrokerRegistrationRequest, 1, encode(request, 1))
    assert (older.log_dirs, older.previous_broker_epoch) == ([], -1)
