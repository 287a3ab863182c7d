"""kio, which nobody here wrote, reads what we write of every API and version, and writes the same bytes.

Its types give numbers a meaning (times, durations, error codes), so the values stay where each has one.
"""

from __future__ import annotations

from io import BytesIO

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer
from kio.static.protocol import Entity

from barnabas.protocol.api import APIS, Api
from barnabas.protocol.codec import encode
from barnabas.protocol.schema import Message
from declared_messages import RandomMessages

MESSAGES_A_VERSION = 3


def assert_same_bytes(cls: type[Message], version: int, theirs: type[Entity]) -> None:
    source = RandomMessages(seed=version, is_plain=True)
    for _ in range(MESSAGES_A_VERSION):
        ours = bytes(encode(source.message(cls, version), version))
        entity, size = entity_reader(theirs)(ours, 0)
        assert size == len(ours)
        again = BytesIO()
        entity_writer(theirs)(again, entity)
        assert again.getvalue() == ours, f"{cls.__name__} v{version}"


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_requests_and_responses_are_the_same_to_kio(api: Api) -> None:
    for version in api.versions:
        assert_same_bytes(api.request, version, load_request_schema(api.key, version))
        assert_same_bytes(api.response, version, load_response_schema(api.key, version))
