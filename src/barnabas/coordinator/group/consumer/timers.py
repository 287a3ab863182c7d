"""The timers of consumer groups, by the names that tell what each is for.

A member has a session, which every request of its own restarts. One of the newer protocol has a rebalance time-out
while it gives up partitions; a classic one has a time to join again in, and then one to fetch its assignment in.
"""

from __future__ import annotations

from typing import Final

from barnabas.coordinator.decision import Decision, TimerKey

SESSION: Final = "consumer-session"
REBALANCE: Final = "consumer-rebalance"
JOIN: Final = "consumer-join"
SYNC: Final = "consumer-sync"
PATTERNS: Final = "consumer-patterns"
DOWNGRADE: Final = "consumer-downgrade"

OF_MEMBERS: Final = (SESSION, REBALANCE, JOIN, SYNC)


def of_member(name: str, group_id: str, member_id: str) -> TimerKey:
    return (name, group_id, member_id)


def cancel_all(group_id: str, member_id: str, decision: Decision) -> None:
    """Cancel whatever is set for a member."""
    for name in OF_MEMBERS:
        decision.cancel_timer(of_member(name, group_id, member_id))
