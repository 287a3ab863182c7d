"""What a shard of the group coordinator knows, and how the parts of it are told of what happens.

Each kind of group brings tables: which request is decided by which function, which record is replayed by which, which
timer means what. The shard puts the tables together; no part of it looks into another's groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from barnabas.coordinator.decision import Decision, TimerKey
from barnabas.coordinator.events import RequestReceived
from barnabas.coordinator.group.consumer.patterns import PatternLookup
from barnabas.coordinator.group.consumer.topic_hashes import TopicHashes
from barnabas.coordinator.group.groups import Groups
from barnabas.coordinator.group.offsets import Offsets
from barnabas.coordinator.group.settings import GroupSettings
from barnabas.metadata.image import EMPTY_IMAGE, MetadataImage
from barnabas.ports.rng import Rng
from barnabas.protocol.schema import Message


@dataclass(slots=True, kw_only=True)
class GroupState:
    """`settings` are the broker's as they are now; `image` is the metadata up to the last step.

    While the log is loaded, `is_active` is false and a record says everything that there is of a group. Afterwards a
    group knows more than its records: who waits, who was told to come back. `new_topics_offset` is where in the
    metadata there were topics last that had not been there before. `pattern_lookups` are those under way,
    by group.
    """

    settings: Callable[[], GroupSettings]
    rng: Rng
    groups: Groups = field(default_factory=Groups)
    offsets: Offsets = field(default_factory=Offsets)
    image: MetadataImage = EMPTY_IMAGE
    topic_hashes: TopicHashes = field(default_factory=TopicHashes)
    new_topics_offset: int = -1
    pattern_lookups: dict[str, PatternLookup] = field(default_factory=dict)
    is_active: bool = False


# Decides what a request calls for. An ApiError that it raises refuses the whole of the request.
Operation = Callable[[GroupState, RequestReceived, Decision], None]
# Takes in a record's key and value; None deletes.
Replay = Callable[[GroupState, Any, Any], None]
# Decides what a timer calls for that has this key.
OnTimer = Callable[[GroupState, TimerKey, Decision], None]

Operations = Mapping[type[Message], Operation]
Replays = Mapping[type[Message], Replay]
Timers = Mapping[str, OnTimer]
