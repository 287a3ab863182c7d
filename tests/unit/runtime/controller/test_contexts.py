"""What decisions are told of who asks, and when the entries that they are judged by are known."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from barnabas.broker.call import Call, Client
from barnabas.metadata.configs import USER, ClientQuotas, QuotaEntity, QuotaEntityPart
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.sorted_map import SortedMap
from barnabas.protocol.api import ApiKey
from barnabas.protocol.messages.request_header import RequestHeader
from barnabas.runtime.controller.contexts import LoadedAcls, RequestContexts
from barnabas.security.acls import ANONYMOUS, AclOperation
from barnabas.security.authorizer import Authorizer, AuthorizerRules
from barnabas.security.errors import ClusterAuthorizationFailed
from barnabas.security.mutation_quotas import MUTATION_RATE, MutationQuotas, ThrottlingQuotaExceeded

ENTITY: QuotaEntity = (QuotaEntityPart(USER, False, "ANONYMOUS"),)
QUOTAS: ClientQuotas = SortedMap({ENTITY: SortedMap({MUTATION_RATE: 1.0})})


def call(key: ApiKey, version: int) -> Call:
    header = RequestHeader(request_api_key=key, request_api_version=version, correlation_id=1, client_id="app")
    return Call(header, version, Client("c", "::1", 1, "CONTROLLER"), 0)


def contexts(authorizer: Authorizer | None = None) -> RequestContexts:
    return RequestContexts(authorizer, MutationQuotas(lambda: QUOTAS, window_num=1, window_size_seconds=1))


def test_whoever_connects_without_showing_who_they_are_is_anonymous() -> None:
    context = contexts().direct(call(ApiKey.UPDATE_FEATURES, 1))
    assert (context.version, context.principal, context.listener) == (1, ANONYMOUS, "CONTROLLER")
    assert not context.is_forwarded
    assert (context.access.principal, context.access.host) == (ANONYMOUS, "0:0:0:0:0:0:0:1")
    assert context.allowance is None, "only what changes partitions is counted"


@pytest.mark.parametrize(
    ("key", "refusable_since"),
    [(ApiKey.CREATE_TOPICS, 6), (ApiKey.DELETE_TOPICS, 5), (ApiKey.CREATE_PARTITIONS, 3)],
)
def test_only_versions_that_can_be_told_so_are_refused_by_a_quota(key: ApiKey, refusable_since: int) -> None:
    for version in (refusable_since - 1, refusable_since):
        context = contexts().direct(call(key, version))
        context.charge_partitions(2)
        if version < refusable_since:
            context.charge_partitions(1)
            assert context.throttle_time_ms == 2_000
        else:
            with pytest.raises(ThrottlingQuotaExceeded):
                context.charge_partitions(1)


def test_a_refusal_is_logged_with_who_and_what(caplog: pytest.LogCaptureFixture) -> None:
    access = contexts(Authorizer(AuthorizerRules(), SortedMap)).access(call(ApiKey.FETCH, 17))
    with caplog.at_level(logging.INFO), pytest.raises(ClusterAuthorizationFailed):
        access.require_of_cluster(AclOperation.CLUSTER_ACTION)
    (record,) = caplog.records
    assert (record.message, vars(record)["principal"], vars(record)["operation"], vars(record)["resource"]) == (
        "denied",
        ANONYMOUS,
        "CLUSTER_ACTION",
        "CLUSTER:kafka-cluster",
    )


def test_entries_count_once_all_that_was_committed_at_the_start_is_known() -> None:
    replay: Any = SimpleNamespace(next_offset=3, image=MetadataImage())
    high_watermark: int | None = None
    acls = LoadedAcls(replay, lambda: high_watermark)
    assert acls() is None
    high_watermark = 4
    assert acls() is None
    replay.next_offset = 4
    assert acls() is replay.image.acls
    high_watermark = 9
    assert acls() is not None, "what comes later is not waited for"
