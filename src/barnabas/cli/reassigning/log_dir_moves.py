"""Moves of replicas between the directories of a broker: their start, and how far they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TextIO

from barnabas.cli.cluster_access import ToolError
from barnabas.cli.error_lines import error_line
from barnabas.cli.reassigning.errors import TerseError
from barnabas.client.admin.log_dirs import Replica, ReplicaLogDirs, alter_replica_log_dirs
from barnabas.client.cluster import Cluster
from barnabas.client.patience import Deadline
from barnabas.ports.clock import Clock
from barnabas.protocol.errors import ErrorCode

_PAUSE_FAILURES: Final = 1


def start_moves(cluster: Cluster, targets: Mapping[Replica, str], timeout_ms: int, clock: Clock, out: TextIO) -> None:
    """A replica that is still on its way to the broker is asked for again, until it is there or the time is over."""
    deadline = Deadline(clock, timeout_ms)
    pending = dict(targets)
    while True:
        for replica in _start(cluster, pending):
            print(
                f"Successfully started moving log directory to {pending.pop(replica)} for replica {replica.topic}-"
                f"{replica.partition} with broker {replica.broker_id} ",
                file=out,
            )
        if not pending:
            return
        if deadline.is_over:
            names = ",".join(map(str, sorted(pending, key=_broker_first)))
            raise TerseError(
                f"Timed out before log directory move{'' if len(pending) == 1 else 's'} could be started for: {names}"
            )
        cluster.wait(_PAUSE_FAILURES, deadline)


def show_moves(targets: Mapping[Replica, str], found: Mapping[Replica, ReplicaLogDirs]) -> str:
    return "\n".join(_show(replica, targets[replica], found[replica]) for replica in sorted(targets, key=_broker_first))


def is_done(directories: ReplicaLogDirs) -> bool:
    """Whether nothing moves any more, to its target or not."""
    return directories.current is not None and directories.future is None


def _start(cluster: Cluster, targets: Mapping[Replica, str]) -> Iterator[Replica]:
    outcomes = alter_replica_log_dirs(cluster, targets)
    for replica in sorted(outcomes, key=_broker_first):
        error = outcomes[replica]
        if error is None:
            yield replica
        elif error.code != ErrorCode.REPLICA_NOT_AVAILABLE:
            raise ToolError(f"Failed to alter dir for {replica}\n{error_line(error)}")


def _show(replica: Replica, target: str, directories: ReplicaLogDirs) -> str:
    partition = f"Partition {replica.topic}-{replica.partition}"
    on_broker = f"{partition} on broker {replica.broker_id}"
    if directories.current is None:
        return (
            f"{partition} is not found in any live log dir on broker {replica.broker_id}. There is likely an offline "
            "log directory on the broker."
        )
    if directories.future == target:
        return f"Reassignment of replica {replica} is still in progress."
    if directories.future is not None:
        return f"{on_broker} is being moved to log dir {directories.future} instead of {target}."
    if directories.current == target:
        return f"Reassignment of replica {replica} completed successfully."
    return f"{on_broker} is not being moved from log dir {directories.current} to {target}."


def _broker_first(replica: Replica) -> tuple[int, str, int]:
    return replica.broker_id, replica.topic, replica.partition
