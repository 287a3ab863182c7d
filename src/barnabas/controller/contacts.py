"""When brokers were last heard of. It is in no record: a new active controller starts with its own count.

Only the shell of the controller replaces contacts; a decision says which it wants replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from barnabas.metadata.cluster import BrokerRegistration

NO_OFFSET: Final = -1


class BrokerContact(NamedTuple):
    """A broker of one epoch.

    `heard_ms` is None until its first heartbeat, or where fencing ended its session. `shutdown_offset` is where the
    log ended once its leaderships had been given away: it may go when every other broker has seen that.
    """

    epoch: int
    heard_ms: int | None = None
    metadata_offset: int = NO_OFFSET
    shutdown_offset: int | None = None

    def has_session(self, now_ms: int, timeout_ms: int) -> bool:
        return self.heard_ms is not None and now_ms <= self.heard_ms + timeout_ms


Contacts = Mapping[int, BrokerContact]


def contacts_at_election(
    brokers: Iterable[BrokerRegistration], now_ms: int, own_broker_id: int | None = None
) -> dict[int, BrokerContact]:
    """A new active controller takes every broker that is not fenced for heard of just now.

    Not so the broker in its own process, which would otherwise wait after every crash for the session of an incarnation
    that can only be dead. If it is alive after all, it is heard of soon.
    """
    return {
        broker.id: BrokerContact(
            broker.epoch, heard_ms=None if broker.is_fenced or broker.id == own_broker_id else now_ms
        )
        for broker in brokers
    }


def stale_brokers(contacts: Contacts, now_ms: int, timeout_ms: int) -> list[int]:
    """Those whose session has run out, the longest silent first."""
    silent = [
        (contact.heard_ms, broker_id)
        for broker_id, contact in contacts.items()
        if contact.heard_ms is not None and not contact.has_session(now_ms, timeout_ms)
    ]
    return [broker_id for _, broker_id in sorted(silent)]
