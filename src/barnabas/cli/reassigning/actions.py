"""The actions of `kafka-reassign-partitions`: make a plan, carry it out, see how far it is, end it, list what moves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, TextIO

from barnabas.cli.cluster_access import ToolError, parse_number
from barnabas.cli.reassigning.errors import TerseError
from barnabas.cli.reassigning.log_dir_moves import is_done, show_moves, start_moves
from barnabas.cli.reassigning.plan import Plan, find_repeated, show_plan
from barnabas.cli.reassigning.throttles import clear_throttles, plan_moves, throttle_log_dirs, throttle_moves
from barnabas.client.admin.cluster import describe_cluster
from barnabas.client.admin.log_dirs import Replica, describe_replica_log_dirs
from barnabas.client.admin.reassignments import alter_partition_reassignments, list_partition_reassignments
from barnabas.client.admin.topics import TopicDescription, describe_topics
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import Outcomes
from barnabas.log.checkpoint import TopicPartition
from barnabas.ports.clock import Clock
from barnabas.protocol.errors import ErrorCode

EXISTING: Final = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create "
    "a new partition assignment in addition to the existing one. The --additional flag can also be used to change the "
    "throttle by resubmitting the current reassignment."
)
VERIFY_PERIODICALLY: Final = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."
)


class Throttle(NamedTuple):
    """Bytes per second between brokers, and between the directories of one; negative for no limit."""

    between_brokers: int
    between_directories: int


def list_reassignments(cluster: Cluster, out: TextIO) -> None:
    current = list_partition_reassignments(cluster)
    if not current:
        print("No partition reassignments found.", file=out)
        return
    print("Current partition reassignments:", file=out)
    for partition in sorted(current):
        replicas, adding, removing = current[partition]
        line = f"{partition}: replicas: {_ids(replicas)}."
        line += f" adding: {_ids(adding)}." if adding else ""
        line += f" removing: {_ids(removing)}." if removing else ""
        print(line, file=out)


def generate(cluster: Cluster, topics: Sequence[str], brokers: str, *, minds_racks: bool, out: TextIO) -> None:
    """Print how the topics lie, and how they could lie on these brokers."""
    wanted = _parse_brokers(brokers)
    current = _replicas_of_topics(cluster, topics)
    directories = _current_directories(cluster, current)
    proposed = _propose(cluster, current, wanted, minds_racks=minds_racks)
    print(f"Current partition replica assignment\n{show_plan(current, directories)}\n", file=out)
    print(f"Proposed partition reassignment configuration\n{show_plan(proposed, {})}", file=out)


def execute(
    cluster: Cluster,
    plan: Plan,
    throttle: Throttle,
    *,
    is_additional: bool,
    allows_replication_factor_change: bool,
    timeout_ms: int,
    clock: Clock,
    out: TextIO,
) -> None:
    plan.check_executable()
    targets = plan.targets
    under_way = list_partition_reassignments(cluster)
    if under_way and not is_additional:
        raise TerseError(EXISTING)
    _check_brokers(cluster, {broker_id for replicas in targets.values() for broker_id in replicas})
    current = _replicas_of_partitions(cluster, targets)
    print(
        f"Current partition replica assignment\n\n{show_plan(current, _current_directories(cluster, current))}\n\n"
        "Save this to use as the --reassignment-json-file option during rollback",
        file=out,
    )
    if throttle.between_brokers >= 0 or throttle.between_directories >= 0:
        print(VERIFY_PERIODICALLY, file=out)
    if throttle.between_brokers >= 0:
        throttle_moves(cluster, plan_moves(under_way, targets, current), throttle.between_brokers, out)
    if throttle.between_directories >= 0:
        brokers = {replica.broker_id for replica in plan.directories}
        throttle_log_dirs(cluster, brokers, throttle.between_directories, out)
    outcomes = alter_partition_reassignments(
        cluster, targets, allows_replication_factor_change=allows_replication_factor_change
    )
    _check_all(outcomes, "Error reassigning partition(s):")
    print(
        f"Successfully started partition reassignment{_plural(targets)} for {','.join(map(str, sorted(targets)))}",
        file=out,
    )
    if plan.directories:
        start_moves(cluster, plan.directories, timeout_ms, clock, out)


def verify(cluster: Cluster, plan: Plan, *, preserves_throttles: bool, out: TextIO) -> None:
    """Print how far a plan is, and clear the throttles when nothing moves any more."""
    under_way = list_partition_reassignments(cluster)
    resting = {partition.topic for partition, _ in plan.entries if partition not in under_way}
    topics = describe_topics(cluster, resting)
    print("Status of partition reassignment:", file=out)
    for partition, replicas in sorted(plan.targets.items()):
        if partition in under_way:
            print(f"Reassignment of partition {partition} is still in progress.", file=out)
            continue
        current = _replicas_or_none(topics[partition.topic], partition)
        if list(current) == list(replicas):
            print(f"Reassignment of partition {partition} is completed.", file=out)
        else:
            print(
                f"There is no active reassignment of partition {partition}, but replica set is {_ids(current)} rather "
                f"than {_ids(replicas)}.",
                file=out,
            )
    directories = describe_replica_log_dirs(cluster, plan.directories)
    print(show_moves(plan.directories, directories), file=out)
    is_moving = not all(is_done(found) for found in directories.values())
    if not under_way and not is_moving and not preserves_throttles:
        clear_throttles(cluster, plan.entries, out)


def cancel(
    cluster: Cluster, plan: Plan, *, preserves_throttles: bool, timeout_ms: int, clock: Clock, out: TextIO
) -> None:
    partitions = list(plan.targets)
    under_way = [
        partition
        for partition, found in list_partition_reassignments(cluster, partitions).items()
        if found.adding or found.removing
    ]
    if under_way:
        outcomes = alter_partition_reassignments(cluster, dict.fromkeys(under_way))
        failed = [partition for partition, error in outcomes.items() if error is not None]
        _check_all(outcomes, f"Error cancelling partition reassignment{_plural(failed)} for:")
        print(
            f"Successfully cancelled partition reassignment{_plural(under_way)} for: "
            f"{','.join(map(str, sorted(under_way)))}",
            file=out,
        )
    else:
        print("None of the specified partition reassignments are active.", file=out)
    moving = {
        replica: found.current
        for replica, found in describe_replica_log_dirs(cluster, plan.directories).items()
        if found.current is not None and found.future is not None
    }
    if moving:
        start_moves(cluster, moving, timeout_ms, clock, out)
    else:
        # Kafka's tool ends no line here.
        print("None of the specified partition moves are active.", end="", file=out)
    if not preserves_throttles:
        clear_throttles(cluster, plan.entries, out)


def _parse_brokers(argument: str) -> list[int]:
    brokers = [parse_number(word) for word in argument.split(",")]
    repeated = find_repeated(brokers)
    if repeated:
        raise ToolError(f"Broker list contains duplicate entries: {repeated}")
    return brokers


def _propose(
    cluster: Cluster,
    current: Mapping[TopicPartition, Sequence[int]],
    brokers: Sequence[int],
    *,
    minds_racks: bool,
) -> dict[TopicPartition, Sequence[int]]:
    # The controller's own way of placing replicas, which nothing but this needs.
    from random import Random

    from barnabas.controller.placement import StripedPlacer, UsableBroker
    from barnabas.protocol.errors import ApiError

    usable = [
        UsableBroker(broker.broker_id, broker.rack if minds_racks else None, is_fenced=False)
        for broker in describe_cluster(cluster).brokers
        if broker.broker_id in brokers
    ]
    if minds_racks and 0 < sum(broker.rack is None for broker in usable) < len(usable):
        raise ToolError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information."
        )
    proposed: dict[TopicPartition, Sequence[int]] = {}
    for topic in {partition.topic for partition in current}:
        partitions = sorted(partition for partition in current if partition.topic == topic)
        try:
            placer = StripedPlacer(usable, len(current[partitions[0]]), Random())
        except ApiError as error:
            raise ToolError(str(error)) from error
        proposed |= {partition: placer.place() for partition in partitions}
    return proposed


def _check_brokers(cluster: Cluster, wanted: set[int]) -> None:
    unknown = wanted - {broker.broker_id for broker in describe_cluster(cluster).brokers}
    if unknown:
        raise ToolError(f"Unknown broker id {min(unknown)}")


def _check_all(outcomes: Outcomes[TopicPartition], complaint: str) -> None:
    lines = [f"{partition}: {error}" for partition, error in sorted(outcomes.items()) if error is not None]
    if lines:
        raise TerseError("\n".join([complaint, *lines]))


def _replicas_of_topics(cluster: Cluster, topics: Collection[str]) -> dict[TopicPartition, Sequence[int]]:
    replicas: dict[TopicPartition, Sequence[int]] = {}
    for name, topic in describe_topics(cluster, topics).items():
        if isinstance(topic, ClientError):
            if topic.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise ClientError(topic.code, f"Topic {name} not found.")
            raise topic
        replicas |= {TopicPartition(name, each.index): each.replicas for each in topic.partitions}
    return replicas


def _replicas_of_partitions(
    cluster: Cluster, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, Sequence[int]]:
    replicas = _replicas_of_topics(cluster, {partition.topic for partition in partitions})
    missing = [partition for partition in partitions if partition not in replicas]
    if missing:
        raise ClientError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition: {', '.join(map(str, missing))}"
        )
    return {partition: replicas[partition] for partition in partitions}


def _replicas_or_none(topic: TopicDescription | ClientError, partition: TopicPartition) -> Sequence[int]:
    """The replicas of a partition, none if there is no such partition or topic."""
    if isinstance(topic, ClientError):
        if topic.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise topic
        return ()
    return next((each.replicas for each in topic.partitions if each.index == partition.partition), ())


def _current_directories(cluster: Cluster, replicas: Mapping[TopicPartition, Sequence[int]]) -> dict[Replica, str]:
    """Where replicas are now, as far as their brokers live and tell."""
    living = {broker.broker_id for broker in describe_cluster(cluster).brokers}
    wanted = [
        Replica(topic, index, broker_id)
        for (topic, index), brokers in replicas.items()
        for broker_id in brokers
        if broker_id in living
    ]
    found = describe_replica_log_dirs(cluster, wanted)
    return {replica: each.current for replica, each in found.items() if each.current is not None}


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def _plural(members: Collection[TopicPartition]) -> str:
    return "" if len(members) == 1 else "s"
