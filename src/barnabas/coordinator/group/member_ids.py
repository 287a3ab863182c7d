"""Names for members, as Kafka makes them: a random id, in classic groups behind what is known of the client."""

from __future__ import annotations

from uuid import UUID

from barnabas.ports.rng import Rng
from barnabas.protocol.uuid import Uuid


def new_member_id(client_id: str, instance_id: str | None, rng: Rng) -> str:
    return f"{client_id if instance_id is None else instance_id}-{_drawn(rng)}"


def random_id(rng: Rng) -> str:
    """An id in Kafka's own form that no tool takes for an option."""
    while (text := str(Uuid(_drawn(rng).bytes))).startswith("-"):
        pass
    return text


def _drawn(rng: Rng) -> UUID:
    return UUID(int=rng.randrange(1 << 128), version=4)
