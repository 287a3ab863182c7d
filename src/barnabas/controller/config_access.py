"""Whose settings an asker may look at or alter: those of brokers, loggers and client metrics are the cluster's."""

from __future__ import annotations

from barnabas.metadata.configs import ConfigResource, ConfigResourceType
from barnabas.security.acls import AclOperation, ResourceType
from barnabas.security.authorizer import Access


def require_config_access(access: Access, operation: AclOperation, resource: ConfigResource) -> None:
    """Raise the error of the resource's kind unless the asker may."""
    match resource.type:
        case ConfigResourceType.TOPIC:
            access.require(operation, ResourceType.TOPIC, resource.name)
        case ConfigResourceType.GROUP:
            access.require(operation, ResourceType.GROUP, resource.name)
        case _:
            access.require_of_cluster(operation)
