"""What a replica must remember across a crash: its epoch, the leader it knows of and the vote it gave.

A vote that is not on the disk can be given twice. The file is `quorum-state`: one line of JSON, version 0 where
kraft.version is 0 and version 1 where voters have directory ids.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from barnabas.protocol.schema import ZERO_UUID
from barnabas.protocol.uuid import Uuid
from barnabas.raft.replica import NO_LEADER_ID, ReplicaKey

FILE_NAME = "quorum-state"
NOT_VOTED = -1
NEWEST_VERSION = 1


class BadQuorumState(Exception):  # noqa: N818 (what was found is bad; nothing went wrong while reading it)
    """A quorum-state file that is none. Without knowing its votes a replica must not start."""


@dataclass(frozen=True, slots=True)
class QuorumState:
    epoch: int = 0
    leader_id: int | None = None
    voted_key: ReplicaKey | None = None
    # Only written where kraft.version is 0, for tools; nobody reads them back.
    voter_ids: tuple[int, ...] = ()
    version: int = NEWEST_VERSION

    def to_json(self) -> str:
        voted = self.voted_key or ReplicaKey(NOT_VOTED)
        fields: dict[str, Any] = {
            "leaderId": NO_LEADER_ID if self.leader_id is None else self.leader_id,
            "leaderEpoch": self.epoch,
            "votedId": voted.id,
        }
        if self.version == 0:
            voters = [{"voterId": voter_id} for voter_id in self.voter_ids]
            fields = {"clusterId": "", **fields, "appliedOffset": 0, "currentVoters": voters}
        else:
            fields["votedDirectoryId"] = str(voted.directory_id)
        return json.dumps({**fields, "data_version": self.version}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> QuorumState:
        try:
            fields = json.loads(text)
            version = fields["data_version"]
            if version not in range(NEWEST_VERSION + 1):
                raise BadQuorumState(f"quorum-state has data_version {version}; 0 to {NEWEST_VERSION} are known")
            leader_id, voted_id = int(fields["leaderId"]), int(fields["votedId"])
            directory_id = Uuid.parse(fields["votedDirectoryId"]) if version > 0 else ZERO_UUID
            return cls(
                epoch=int(fields["leaderEpoch"]),
                leader_id=None if leader_id == NO_LEADER_ID else leader_id,
                voted_key=None if voted_id == NOT_VOTED else ReplicaKey(voted_id, directory_id),
                voter_ids=tuple(int(voter["voterId"]) for voter in fields.get("currentVoters") or ()),
                version=version,
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadQuorumState(f"quorum-state cannot be read: {error!r} in {text[:200]!r}") from error
