"""The range assignor: each subscriber of a topic is given a run of its partitions.

Members come in one order for all topics, static ones first, so that partitions of the same number of topics with as
many partitions meet in one member, and a static member that comes back finds its own again.
"""

from __future__ import annotations

from barnabas.coordinator.group.assignors.spec import Assignment, GroupSpec, MemberSpec, assignment_of
from barnabas.protocol.uuid import Uuid


def assign_ranges(spec: GroupSpec) -> dict[str, Assignment]:
    ordered = GroupSpec(dict(sorted(spec.members.items(), key=_static_first)), spec.partition_counts)
    given: dict[str, dict[Uuid, set[int]]] = {member_id: {} for member_id in spec.members}
    for topic_id, subscribers in ordered.subscribers().items():
        if not subscribers:
            continue
        least, extras = divmod(spec.partition_counts[topic_id], len(subscribers))
        start = 0
        for place, member_id in enumerate(subscribers):
            end = start + least + (place < extras)
            given[member_id][topic_id] = set(range(start, end))
            start = end
    return {member_id: assignment_of(partitions) for member_id, partitions in given.items()}


def _static_first(entry: tuple[str, MemberSpec]) -> tuple[bool, str]:
    member_id, member = entry
    return member.instance_id is None, member_id if member.instance_id is None else member.instance_id
