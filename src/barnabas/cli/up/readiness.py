"""Waits until a cluster serves: a broker of it answers, and knows of all the others."""

from __future__ import annotations

import asyncio
from typing import Final

from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.runtime.peer import Peer, PeerLost, UnsupportedByPeer

CLIENT_ID: Final = "barnabas-up"
_TIMEOUT_MS: Final = 2_000
_RETRY_S: Final = 0.02


async def wait_until_serving(address: tuple[str, int], broker_count: int) -> None:
    """Return when the broker there says that so many are in the cluster, however long that takes."""
    while await _count_brokers(address) < broker_count:
        await asyncio.sleep(_RETRY_S)


async def _count_brokers(address: tuple[str, int]) -> int:
    """How many brokers it knows of; none while it does not answer."""
    host, port = address
    try:
        peer = await Peer.connect(host, port, timeout_ms=_TIMEOUT_MS, client_id=CLIENT_ID)
        try:
            await peer.negotiate(_TIMEOUT_MS)
            request = MetadataRequest(topics=[])
            response: MetadataResponse = await peer.send(request, peer.newest_version(MetadataRequest), _TIMEOUT_MS)
            return len(response.brokers)
        finally:
            peer.close("asked")
    except (PeerLost, UnsupportedByPeer):
        return 0
