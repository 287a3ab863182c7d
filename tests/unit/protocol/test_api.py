"""The table of APIs names every message, and looking at it imports none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from barnabas.protocol.api import APIS, ApiKey, Listener
from barnabas.protocol.messages import REQUESTS, RESPONSES


def test_every_api_has_a_request_and_a_response_of_its_name_number_and_versions() -> None:
    for key, api in APIS.items():
        assert (api.request.__name__, api.response.__name__) == (f"{api.name}Request", f"{api.name}Response")
        assert api.request.api_key == api.response.api_key == api.key == key
        assert api.request.valid_versions == api.response.valid_versions == api.versions


def test_the_table_covers_every_number() -> None:
    assert set(APIS) == set(ApiKey) == set(REQUESTS) == set(RESPONSES)


def test_an_unstable_newest_version_is_not_among_the_stable_ones() -> None:
    unstable = [api.name for api in APIS.values() if api.stable_versions != api.versions]
    assert unstable == ["InitProducerId"]
    assert APIS[ApiKey.INIT_PRODUCER_ID].stable_versions[-1] == APIS[ApiKey.INIT_PRODUCER_ID].versions[-1] - 1


def test_apis_are_served_on_the_listeners_that_need_them() -> None:
    assert APIS[ApiKey.PRODUCE].listeners == {Listener.BROKER}
    assert APIS[ApiKey.VOTE].listeners == {Listener.CONTROLLER}
    assert APIS[ApiKey.FETCH].listeners == {Listener.BROKER, Listener.CONTROLLER}


def test_the_table_is_read_without_importing_a_message() -> None:
    program = """
import sys
from barnabas.protocol.api import APIS, ApiKey
before = [name for name in sys.modules if name.startswith("barnabas.protocol.messages.")]
APIS[ApiKey.FETCH].request
after = [name for name in sys.modules if name.startswith("barnabas.protocol.messages.")]
print(before, after)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "['barnabas.protocol.messages.fetch']"]


def test_an_unknown_number_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        REQUESTS[4]
    assert 4 not in REQUESTS
