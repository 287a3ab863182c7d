"""What decisions are made from and what they are: records to write, a response to give once they are committed.

A decision changes nothing. Replaying its records changes the metadata; the rest of it changes what the active
controller remembers of brokers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from barnabas.controller.contacts import BrokerContact, Contacts
from barnabas.controller.settings import ControllerSettings
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import MetadataImage
from barnabas.metadata.versions import MetadataVersion
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import ApiError
from barnabas.protocol.schema import Message
from barnabas.protocol.uuid import Uuid
from barnabas.security.acls import ANONYMOUS, AclOperation
from barnabas.security.authorizer import UNRESTRICTED, Access
from barnabas.security.mutation_quotas import MutationAllowance

# Kafka's limit for what one request may change at once, and for one batch of the log.
RECORDS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """Who asks, how, and what they may do. A principal whose word is a delegation token gets no other token by it."""

    version: int
    principal: str = ANONYMOUS
    listener: str = ""
    is_forwarded: bool = False
    is_token_authenticated: bool = False
    access: Access = UNRESTRICTED
    allowance: MutationAllowance | None = None

    def charge_partitions(self, count: int) -> None:
        """Take partitions from what the asker may change in a while, or raise."""
        if self.allowance is not None:
            self.allowance.charge(count)

    @property
    def throttle_time_ms(self) -> int:
        """How long the asker should rest, by what was charged so far."""
        return 0 if self.allowance is None else self.allowance.throttle_time_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that a decision may look at.

    `image` has every record decided on so far, committed or not. `next_offset` is where the log will go on. Durations
    are measured by `now_ms`, which never jumps; what clients hold against their own clocks is told by `wall_ms`.
    """

    image: MetadataImage
    registration_offsets: Mapping[int, int]
    contacts: Contacts
    settings: ControllerSettings
    rng: Rng
    now_ms: int
    wall_ms: int
    next_offset: int
    kraft_version: int = 0
    voter_ids: frozenset[int] = frozenset()

    @property
    def metadata_version(self) -> MetadataVersion:
        version = self.image.features.metadata_version
        assert version is not None, "an active controller has written its bootstrap records"
        return version

    def after(self, records: Sequence[Message]) -> Situation:
        """As if these records were replayed, for a decision that has several steps."""
        if not records:
            return self
        delta = MetadataDelta(self.image)
        for record in records:
            delta.replay(record)
        return replace(self, image=delta.apply(self.image.provenance))

    def random_id(self) -> Uuid:
        """An id as Kafka draws them: of UUID version 4, none that is reserved, none that a tool takes for an option."""
        while True:
            drawn = bytearray(self.rng.randrange(256) for _ in range(16))
            drawn[6] = drawn[6] & 0x0F | 0x40
            drawn[8] = drawn[8] & 0x3F | 0x80
            drawn_id = Uuid(drawn)
            if not str(drawn_id).startswith("-"):
                return drawn_id


class KRaftUpgrade(NamedTuple):
    """The level of kraft.version that the quorum, whose matter it is, has to agree to first."""

    level: int
    validate_only: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """`is_atomic`: all records or none, in one batch. Without that they may be split, in their order.

    `contacts` has new contacts by broker, None for one that is forgotten. `shutting_down` is the broker whose
    controlled shutdown waits for others to see the last of these records. With a `kraft_upgrade` all of it holds only
    once the quorum has agreed. `refusal` is why the whole of a request was refused, for responses that cannot say it.
    """

    response: Message | None = None
    records: Sequence[Message] = ()
    is_atomic: bool = False
    contacts: Mapping[int, BrokerContact | None] = field(default_factory=dict)
    shutting_down: int | None = None
    kraft_upgrade: KRaftUpgrade | None = None
    refusal: ApiError | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """How a request is decided, and how it is answered, in its version, where the whole of it is refused.

    `needs` is what the asker must be allowed on the cluster; None where the decision asks for each resource.
    """

    decide: Callable[[Situation, Any, RequestContext], Decision]
    refuse: Callable[[Any, ApiError, int], Message]
    needs: AclOperation | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """How a request is answered that any controller answers, from what is committed; `needs` as in Operation."""

    answer: Callable[[CommittedView, Any, RequestContext], Message]
    refuse: Callable[[Any, ApiError, int], Message]
    needs: AclOperation | None = None


@dataclass(frozen=True, slots=True)
class CommittedView:
    """What a query sees; `leader_id` is None while no controller is known to be active."""

    image: MetadataImage
    settings: ControllerSettings
    leader_id: int | None
