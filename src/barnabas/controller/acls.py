"""CreateAcls, DeleteAcls and DescribeAcls: access control entries are kept here; authorizers read them elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.controller.acl_filters import AclFilter, check_entry
from barnabas.controller.decision import CommittedView, Decision, Operation, Query, RequestContext, Situation
from barnabas.controller.errors import SecurityDisabled
from barnabas.controller.settings import ControllerSettings
from barnabas.metadata.access import AccessControlEntry
from barnabas.protocol.errors import ApiError
from barnabas.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from barnabas.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from barnabas.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from barnabas.protocol.metadata_records.remove_access_control_entry import RemoveAccessControlEntryRecord
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import AclOperation


def create_acls(situation: Situation, request: CreateAclsRequest, _context: RequestContext) -> Decision:
    """An entry that is there already is created with success and without a record."""
    _check_enabled(situation.settings)
    known = set(situation.image.acls.contents())
    records: list[Message] = []
    results = []
    for creation in request.creations:
        entry = _entry(creation)
        try:
            check_entry(entry)
        except ApiError as error:
            results.append(AclCreationResult(error_code=error.code, error_message=str(error)))
            continue
        if entry not in known:
            known.add(entry)
            records.append(entry.record(situation.random_id()))
        results.append(AclCreationResult(error_code=0, error_message=None))
    return Decision(CreateAclsResponse(throttle_time_ms=0, results=results), records, is_atomic=True)


def delete_acls(situation: Situation, request: DeleteAclsRequest, _context: RequestContext) -> Decision:
    """Whatever some filter matches; an entry that two of them match is told twice and deleted once."""
    _check_enabled(situation.settings)
    deleted: dict[Uuid, None] = {}
    results = []
    for asked in request.filters:
        acl_filter = _filter(asked)
        try:
            acl_filter.check()
        except ApiError as error:
            results.append(DeleteAclsFilterResult(error_code=error.code, error_message=str(error), matching_acls=[]))
            continue
        matching = []
        for entry_id, entry in situation.image.acls.entries():
            if acl_filter.matches(entry):
                deleted[entry_id] = None
                matching.append(DeleteAclsMatchingAcl(error_code=0, error_message=None, **entry._asdict()))
        results.append(DeleteAclsFilterResult(error_code=0, error_message=None, matching_acls=matching))
    records = [RemoveAccessControlEntryRecord(id=entry_id) for entry_id in deleted]
    return Decision(DeleteAclsResponse(throttle_time_ms=0, filter_results=results), records, is_atomic=True)


def describe_acls(view: CommittedView, request: DescribeAclsRequest, _context: RequestContext) -> Message:
    """The entries that a filter matches, by resource."""
    _check_enabled(view.settings)
    acl_filter = _filter(request)
    acl_filter.check()
    resources: dict[tuple[int, str, int], list[AclDescription]] = {}
    for entry in view.image.acls.contents():
        if acl_filter.matches(entry):
            resources.setdefault((entry.resource_type, entry.resource_name, entry.pattern_type), []).append(
                AclDescription(
                    principal=entry.principal,
                    host=entry.host,
                    operation=entry.operation,
                    permission_type=entry.permission_type,
                )
            )
    return DescribeAclsResponse(
        throttle_time_ms=0,
        error_code=0,
        error_message=None,
        resources=[
            DescribeAclsResource(resource_type=kind, resource_name=name, pattern_type=pattern, acls=acls)
            for (kind, name, pattern), acls in sorted(resources.items(), key=lambda item: item[0])
        ],
    )


def _check_enabled(settings: ControllerSettings) -> None:
    if not settings.has_authorizer:
        raise SecurityDisabled("no authorizer.class.name is set, so nobody would look at access control entries")


def _entry(creation: AclCreation) -> AccessControlEntry:
    return AccessControlEntry(
        resource_type=creation.resource_type,
        resource_name=creation.resource_name,
        pattern_type=creation.resource_pattern_type,
        principal=creation.principal,
        host=creation.host,
        operation=creation.operation,
        permission_type=creation.permission_type,
    )


def _filter(asked: DeleteAclsFilter | DescribeAclsRequest) -> AclFilter:
    return AclFilter(
        resource_type=asked.resource_type_filter,
        resource_name=asked.resource_name_filter,
        pattern_type=asked.pattern_type_filter,
        principal=asked.principal_filter,
        host=asked.host_filter,
        operation=asked.operation,
        permission_type=asked.permission_type,
    )


def _refuse_creation(request: CreateAclsRequest, error: ApiError, _version: int) -> Message:
    results = [AclCreationResult(error_code=error.code, error_message=str(error)) for _ in request.creations]
    return CreateAclsResponse(throttle_time_ms=0, results=results)


def _refuse_deletion(request: DeleteAclsRequest, error: ApiError, _version: int) -> Message:
    results = [
        DeleteAclsFilterResult(error_code=error.code, error_message=str(error), matching_acls=[])
        for _ in request.filters
    ]
    return DeleteAclsResponse(throttle_time_ms=0, filter_results=results)


def _refuse_description(_request: DescribeAclsRequest, error: ApiError, _version: int) -> Message:
    return DescribeAclsResponse(throttle_time_ms=0, error_code=error.code, error_message=str(error), resources=[])


OPERATIONS: Mapping[type[Message], Operation] = {
    CreateAclsRequest: Operation(create_acls, _refuse_creation, needs=AclOperation.ALTER),
    DeleteAclsRequest: Operation(delete_acls, _refuse_deletion, needs=AclOperation.ALTER),
}
QUERIES: Mapping[type[Message], Query] = {
    DescribeAclsRequest: Query(describe_acls, _refuse_description, needs=AclOperation.DESCRIBE)
}
