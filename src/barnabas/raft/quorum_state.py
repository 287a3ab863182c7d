"""What a replica must remember across a crash: its epoch, the leader it knows of and the vote it gave.

A vote that is not on the disk can be given twice. The file is `quorum-state`: one line of JSON, version 0 where
kraft.version is 0 and version 1 where voters have directory ids.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from barnabas.protocol.files.quorum_state import QuorumStateData
from barnabas.protocol.files.quorum_state import Voter as FileVoter
from barnabas.protocol.json_form import from_json, json_text, to_json
from barnabas.raft.replica import NO_LEADER_ID, ReplicaKey

FILE_NAME = "quorum-state"
NOT_VOTED = -1
# An epoch is an int32 and every election needs the next one: whoever names the last is not believed.
EPOCH_END = 2**31 - 1
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
        data = QuorumStateData(
            leader_id=NO_LEADER_ID if self.leader_id is None else self.leader_id,
            leader_epoch=self.epoch,
            voted_id=voted.id,
        )
        if self.version == 0:
            data.current_voters = [FileVoter(voter_id=voter_id) for voter_id in self.voter_ids]
        else:
            data.voted_directory_id = voted.directory_id
        return json_text({**to_json(data, self.version), "data_version": self.version})

    @classmethod
    def from_json(cls, text: str) -> QuorumState:
        try:
            node = json.loads(text)
            version = node["data_version"]
            if version not in range(NEWEST_VERSION + 1):
                raise BadQuorumState(f"quorum-state has data_version {version}; 0 to {NEWEST_VERSION} are known")
            data = from_json(QuorumStateData, version, node)
        except (ValueError, TypeError, KeyError) as error:
            raise BadQuorumState(f"quorum-state cannot be read: {error!r} in {text[:200]!r}") from error
        return cls(
            epoch=data.leader_epoch,
            leader_id=None if data.leader_id == NO_LEADER_ID else data.leader_id,
            voted_key=None if data.voted_id == NOT_VOTED else ReplicaKey(data.voted_id, data.voted_directory_id),
            voter_ids=tuple(voter.voter_id for voter in data.current_voters or ()),
            version=version,
        )
