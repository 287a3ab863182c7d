"""ApiVersions: what is advertised of a table, in every version, with Kafka's exceptions."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import pytest

from barnabas.broker.api_versions import ApiVersions, Features
from barnabas.broker.call import Call, Client
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.routing import Route, ServedBy, build_table
from barnabas.protocol.api import APIS, ApiKey, Listener
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import frame_request, read_response
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.schema import Message

FEATURES = Features(
    supported={"metadata.version": range(7, 31), "group.version": range(2)},
    finalized={"metadata.version": 30, "group.version": 1, "share.version": 0},
    finalized_epoch=99,
)
REQUEST = ApiVersionsRequest(client_software_name="barnabas", client_software_version="1.0")


def handle(request: Message, call: Call) -> None:
    """Never called here."""


class Served:
    def __init__(
        self, controller_versions: Mapping[int, range] | None = None, listener: Listener = Listener.BROKER
    ) -> None:
        self.client = Client("c", "127.0.0.1", 5000, "PLAINTEXT")
        versions = ApiVersions(lambda: FEATURES, lambda: controller_versions)
        family = [
            Route(ApiKey.INIT_PRODUCER_ID, APIS[ApiKey.INIT_PRODUCER_ID].versions, ServedBy.BROKER, handle),
            Route(ApiKey.PRODUCE, APIS[ApiKey.PRODUCE].versions, ServedBy.BROKER, handle),
            Route(ApiKey.CREATE_TOPICS, APIS[ApiKey.CREATE_TOPICS].versions, ServedBy.CONTROLLER, handle),
        ]
        if listener is Listener.CONTROLLER:
            family = family[2:]
        table = build_table(family, versions.routes, listener=listener)
        versions.advertise(table)
        self._dispatcher = Dispatcher(table)

    def ask(self, request: ApiVersionsRequest, version: int) -> Any:
        return self.ask_frame(b"".join(frame_request(request, version, 1, None))[4:], version)

    def ask_frame(self, frame: bytes, version: int) -> Any:
        parts = self._dispatcher.answer(memoryview(frame), self.client, 0)
        assert isinstance(parts, list)
        return read_response(memoryview(b"".join(parts))[4:], ApiVersionsResponse, version)[1]


def offered(response: Any) -> dict[int, tuple[int, int]]:
    return {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}


@pytest.mark.parametrize("version", APIS[ApiKey.API_VERSIONS].versions)
def test_every_version_lists_the_table_with_produce_from_0_and_without_unstable_versions(version: int) -> None:
    response = Served().ask(REQUEST, version)
    assert response.error_code == 0
    assert offered(response) == {0: (0, 13), 18: (0, 4), 19: (2, 7), 22: (0, 5)}


def test_features_come_with_version_3_and_those_from_level_0_with_version_4() -> None:
    served = Served()
    assert not served.ask(REQUEST, 2).supported_features
    for version, names in ((3, ["metadata.version"]), (4, ["metadata.version", "group.version"])):
        response = served.ask(REQUEST, version)
        assert [feature.name for feature in response.supported_features] == names
        finalized = {feature.name: feature.max_version_level for feature in response.finalized_features}
        assert finalized == {"metadata.version": 30, "group.version": 1}
        assert response.finalized_features_epoch == 99


def test_what_is_passed_on_is_cut_to_what_the_controller_serves() -> None:
    assert offered(Served({19: range(4, 100)}).ask(REQUEST, 4))[19] == (4, 7)
    assert 19 not in offered(Served({}).ask(REQUEST, 4))
    assert 19 not in offered(Served({19: range(8, 9)}).ask(REQUEST, 4))


def test_a_controller_listener_lists_its_own() -> None:
    assert offered(Served(listener=Listener.CONTROLLER).ask(REQUEST, 4)) == {18: (0, 4), 19: (2, 7)}


@pytest.mark.parametrize("version", [5, 99, -1])
def test_an_unknown_version_is_answered_in_version_0_with_the_versions_to_choose_from(version: int) -> None:
    header = struct.pack(">hhih", 18, version, 1, -1) + (b"\x00" if version > 0 else b"")
    response = Served().ask_frame(header + b"what only the future can read", 0)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert offered(response) == {18: (0, 4)}


def test_a_client_is_known_by_what_it_says_of_itself() -> None:
    served = Served()
    served.ask(REQUEST, 3)
    assert (served.client.software_name, served.client.software_version) == ("barnabas", "1.0")


@pytest.mark.parametrize("name", ["", "-leading", "trailing.", "with space", "naïve"])
def test_software_that_is_no_name_is_refused(name: str) -> None:
    served = Served()
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    assert served.ask(request, 3).error_code == ErrorCode.INVALID_REQUEST
    assert served.client.software_name == ""
    # Versions before 3 do not carry it.
    assert served.ask(request, 2).error_code == 0
