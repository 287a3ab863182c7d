"""`kafka-broker-api-versions`: a line for every API."""

from __future__ import annotations

from barnabas.cli import broker_api_versions
from barnabas.protocol.api import ApiKey
from barnabas.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from unit.cli.tool_runs import call
from unit.client.scripted_node import ScriptedNode


def test_the_versions_of_every_api_are_shown() -> None:
    def api(key: int, least: int, most: int) -> ApiVersion:
        return ApiVersion(api_key=key, min_version=least, max_version=most)

    served = [
        *(api(18, 0, 4), api(3, 0, 99), api(60, 0, 2)),
        *(api(ApiKey.PRODUCE, 0, 2), api(ApiKey.FETCH, 90, 99), api(ApiKey.LIST_OFFSETS, 3, 3), api(999, 1, 2)),
    ]
    answer = ApiVersionsResponse(error_code=0, api_keys=served)
    with ScriptedNode({ApiVersionsRequest: answer}) as node:
        said = call(broker_api_versions.run, f"--bootstrap-server {node.address}")
    assert (said.status, said.err) == (0, "")
    first, *lines, last = said.out.splitlines()
    assert first == f"{node.address} (id: 1 rack: null isFenced: false) -> ("
    assert lines[:4] == [
        "\tProduce(0): 0 to 2 [unusable: node too old],",
        "\tFetch(1): 90 to 99 [unusable: node too new],",
        "\tListOffsets(2): 3 [usable: 3],",
        "\tMetadata(3): 0 to 99 [usable: 13],",
    ]
    assert lines[4] == "\tOffsetCommit(8): UNSUPPORTED,"
    assert lines[-1] == "\tUNKNOWN(999): 1 to 2"
    assert last == ")"


def test_a_broker_must_be_named() -> None:
    said = call(broker_api_versions.run, "--command-config none")
    assert (said.status, said.complaint) == (1, 'Missing required argument "[bootstrap-server]"')
