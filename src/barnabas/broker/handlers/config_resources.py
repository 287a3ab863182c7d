"""ListConfigResources: what there is that has settings, or could have some.

v0-v1: 0 asks for client metrics only; 1 for any kinds, and for all of them where it names none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from barnabas.broker.call import Call
from barnabas.broker.routing import Route, ServedBy
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.image import MetadataImage
from barnabas.protocol.api import APIS, ApiKey
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

VERSIONS: Final = APIS[ApiKey.LIST_CONFIG_RESOURCES].versions
TYPES_SINCE: Final = 1
# In the order in which Kafka lists them.
TYPES: Final = (
    ConfigResourceType.GROUP,
    ConfigResourceType.CLIENT_METRICS,
    ConfigResourceType.BROKER_LOGGER,
    ConfigResourceType.BROKER,
    ConfigResourceType.TOPIC,
)


class ListConfigResources:
    def __init__(self, image: Callable[[], MetadataImage]) -> None:
        self._image = image

    @property
    def routes(self) -> tuple[Route, ...]:
        return (Route(ApiKey.LIST_CONFIG_RESOURCES, VERSIONS, ServedBy.BROKER, self.handle),)

    def handle(self, request: ListConfigResourcesRequest, call: Call) -> ListConfigResourcesResponse:
        supported = TYPES if call.version >= TYPES_SINCE else (ConfigResourceType.CLIENT_METRICS,)
        wanted = set(request.resource_types or supported)
        if not wanted <= set(supported):
            return ListConfigResourcesResponse(
                throttle_time_ms=0, error_code=ErrorCode.UNSUPPORTED_VERSION, config_resources=[]
            )
        return ListConfigResourcesResponse(
            throttle_time_ms=0,
            error_code=0,
            config_resources=[
                ConfigResource(resource_name=name, resource_type=kind)
                for kind in TYPES
                if kind in wanted
                for name in self._names(kind, call.client.listener)
            ],
        )

    def _names(self, kind: ConfigResourceType, listener: str) -> Iterable[str]:
        image = self._image()
        match kind:
            case ConfigResourceType.TOPIC:
                return image.topics.ids
            case ConfigResourceType.BROKER | ConfigResourceType.BROKER_LOGGER:
                return (str(broker.id) for broker in image.cluster.brokers.contents() if listener in broker.endpoints)
            case _:
                return (resource.name for resource in image.configs if resource.type is kind)
