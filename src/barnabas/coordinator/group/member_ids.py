"""Names for members, as Kafka makes them: what is known of the client, and a random UUID."""

from __future__ import annotations

from uuid import UUID

from barnabas.ports.rng import Rng


def new_member_id(client_id: str, instance_id: str | None, rng: Rng) -> str:
    drawn = UUID(int=rng.randrange(1 << 128), version=4)
    return f"{client_id if instance_id is None else instance_id}-{drawn}"
