"""Routes: what a table takes in, and which versions it serves."""

from __future__ import annotations

import pytest

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, ServedBy, build_table
from barnabas.protocol.api import APIS, ApiKey, Listener
from barnabas.protocol.schema import Message


def handle(request: Message, call: Call) -> None:
    """Never called here."""


def route(key: ApiKey, versions: range | None = None) -> Route:
    return Route(key, versions or APIS[key].versions, ServedBy.BROKER, handle)


def test_a_table_holds_the_routes_of_all_families_by_number() -> None:
    table = build_table([route(ApiKey.METADATA)], [route(ApiKey.FETCH), route(ApiKey.PRODUCE)])
    assert [found.key for found in table] == [ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.METADATA]
    assert table.routes[1].request is APIS[ApiKey.FETCH].request


def test_an_api_is_routed_once() -> None:
    with pytest.raises(AssertionError, match="Fetch is routed twice"):
        build_table([route(ApiKey.FETCH)], [route(ApiKey.FETCH)])


def test_an_api_is_routed_only_where_it_may_be_asked() -> None:
    build_table([route(ApiKey.VOTE)], listener=Listener.CONTROLLER)
    with pytest.raises(AssertionError, match="Vote is never asked of a broker"):
        build_table([route(ApiKey.VOTE)])


@pytest.mark.parametrize("versions", [range(0), range(3), range(4, 99)])
def test_a_route_has_versions_that_its_api_has(versions: range) -> None:
    with pytest.raises(AssertionError, match="version"):
        Route(ApiKey.FETCH, versions, ServedBy.BROKER, handle)


def test_versions_that_kafka_still_changes_are_served_on_demand_only() -> None:
    unstable = route(ApiKey.INIT_PRODUCER_ID)
    assert build_table([unstable]).routes[22].versions == range(6)
    assert build_table([unstable], unstable_api_versions_enable=True).routes[22].versions == range(7)
    only_the_unstable = route(ApiKey.INIT_PRODUCER_ID, range(6, 7))
    assert not build_table([only_the_unstable]).routes


def test_a_route_may_serve_fewer_versions_than_there_are() -> None:
    assert build_table([route(ApiKey.FETCH, range(12, 14))]).routes[1].versions == range(12, 14)
