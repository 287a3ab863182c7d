"""`kafka-topics`: creates, lists, describes, alters and deletes topics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TextIO

from barnabas.cli.cluster_access import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ToolError,
    connect_as_told,
    parse_number,
    report_errors,
)
from barnabas.cli.entry import start
from barnabas.cli.options import Option, ParsedOptions, Tool, UsageError, flag, integer, text
from barnabas.cli.topic_filter import INTERNAL_TOPICS, BadFilterError, TopicFilter
from barnabas.cli.topics_description import TopicsDescription, Wanted
from barnabas.cli.zookeeper import refuse_zookeeper
from barnabas.client.admin.topics import (
    NewTopic,
    TopicDescription,
    create_partitions,
    create_topics,
    delete_topics,
    describe_topic_by_id,
    describe_topics,
    list_topics,
)
from barnabas.client.cluster import Cluster
from barnabas.client.errors import ClientError
from barnabas.client.outcomes import raise_first
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.uuid import ZERO_UUID, Uuid

LIST = flag("list", "List the topics.")
CREATE = flag("create", "Create a topic.")
DELETE = flag("delete", "Delete topics.")
ALTER = flag("alter", "Raise the number of partitions; kafka-configs changes settings.")
DESCRIBE = flag("describe", "Show topics and their partitions.")
TOPIC = text("topic", "The topic; a regular expression of topics, except to create one.", argument="topic")
TOPIC_ID = text("topic-id", "The id of a topic to describe.", argument="topic-id")
CONFIG = text(
    "config", "A setting of the topic to create; can be repeated. The others are the cluster's.", argument="name=value"
)
DELETE_CONFIG = text("delete-config", "Does nothing any more; use kafka-configs.", argument="name")
PARTITIONS = integer("partitions", "How many partitions the topic has or gets.", argument="number")
REPLICATION_FACTOR = integer("replication-factor", "On how many brokers each partition is.", argument="number")
REPLICA_ASSIGNMENT = text(
    "replica-assignment",
    "The brokers of each partition: those of one have colons between them, the partitions commas.",
    argument="id:id,id:id",
)
UNDER_REPLICATED = flag("under-replicated-partitions", "Describe only partitions that lack replicas in sync.")
UNAVAILABLE = flag("unavailable-partitions", "Describe only partitions without a leader.")
UNDER_MIN_ISR = flag("under-min-isr-partitions", "Describe only partitions with too few replicas in sync for acks=all.")
AT_MIN_ISR = flag("at-min-isr-partitions", "Describe only partitions with just enough replicas in sync for acks=all.")
WITH_OVERRIDES = flag("topics-with-overrides", "Describe only topics that have settings of their own.")
IF_EXISTS = flag("if-exists", "Do nothing where there is no such topic.")
IF_NOT_EXISTS = flag("if-not-exists", "Do nothing where there is such a topic already.")
EXCLUDE_INTERNAL = flag("exclude-internal", "Leave out the topics that Kafka keeps for itself.")
PARTITIONS_PER_RESPONSE = integer(
    "partition-size-limit-per-response", "How many partitions one response describes at most.", argument="number"
)
ACTIONS = (CREATE, LIST, ALTER, DESCRIBE, DELETE)
REPORTS = (UNDER_REPLICATED, UNDER_MIN_ISR, AT_MIN_ISR, UNAVAILABLE)
TOOL = Tool(
    "kafka-topics",
    "Creates, lists, describes, alters and deletes topics.",
    (
        *(BOOTSTRAP_SERVER, COMMAND_CONFIG, *ACTIONS, TOPIC, TOPIC_ID, CONFIG, DELETE_CONFIG, PARTITIONS),
        *(REPLICATION_FACTOR, REPLICA_ASSIGNMENT, *REPORTS, WITH_OVERRIDES, IF_EXISTS, IF_NOT_EXISTS),
        *(EXCLUDE_INTERNAL, PARTITIONS_PER_RESPONSE),
    ),
)
COLLISION_WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)
_REPLICATION_FACTOR_MAX = 2**15 - 1


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""
    if refuse_zookeeper(TOOL.name, arguments, err):
        return 1

    def work(options: ParsedOptions) -> int:
        _check(options, out, err)
        return report_errors(lambda: _run_action(options, out), out, err)

    return TOOL.run(_without_empty_topic(arguments), work, out=out, err=err)


def _without_empty_topic(arguments: Sequence[str]) -> list[str]:
    """A `--topic` that another follows and that has an action for its value was typed once too often."""
    words = list(arguments)
    actions = {f"--{action.name}" for action in ACTIONS}
    for index in range(len(words) - 1):
        if words[index] == "--topic" and words[index + 1] in actions and "--topic" in words[index + 1 :]:
            return words[:index] + words[index + 1 :]
    return words


def _check(options: ParsedOptions, out: TextIO, err: TextIO) -> None:
    if sum(options.has(action) for action in ACTIONS) != 1:
        raise UsageError(
            "Command must include exactly one action: --list, --describe, --create, --alter or --delete",
            shows_help=True,
        )
    if options.has(DELETE_CONFIG):
        print("--delete-config does nothing any more; kafka-configs --alter --delete-config does it.", file=err)
    if not options.has(BOOTSTRAP_SERVER):
        raise UsageError("--bootstrap-server must be specified")
    if options.has(DESCRIBE) and options.has(IF_EXISTS):
        if not options.has(TOPIC, TOPIC_ID):
            raise UsageError("--topic or --topic-id is required to describe a topic", shows_help=True)
        if options.has(TOPIC) and options.has(TOPIC_ID):
            print(
                "Only topic id will be used when both --topic and --topic-id are specified and topicId is not "
                "Uuid.ZERO_UUID",
                file=out,
            )
    if not options.has(LIST, DESCRIBE):
        options.require(TOPIC)
    if options.has(ALTER):
        if options.has(CONFIG):
            raise UsageError(
                'Option combination "[bootstrap-server],[config]" can\'t be used with option "[alter]" '
                "(kafka-configs changes the settings of a topic)",
                shows_help=True,
            )
        options.require(PARTITIONS)
    _check_combinations(options)


def _check_combinations(options: ParsedOptions) -> None:
    only_with: dict[Option[Any], tuple[Option[Any], ...]] = {
        CONFIG: (ALTER, CREATE),
        PARTITIONS: (ALTER, CREATE),
        REPLICATION_FACTOR: (CREATE,),
        REPLICA_ASSIGNMENT: (ALTER, CREATE),
        **dict.fromkeys(REPORTS, (DESCRIBE,)),
        WITH_OVERRIDES: (DESCRIBE,),
        IF_EXISTS: (ALTER, DELETE, DESCRIBE),
        IF_NOT_EXISTS: (CREATE,),
        EXCLUDE_INTERNAL: (LIST, DESCRIBE),
    }
    for option, actions in only_with.items():
        options.forbid(option, *(action for action in ACTIONS if action not in actions))
    if options.has(CREATE):
        options.forbid(REPLICA_ASSIGNMENT, PARTITIONS, REPLICATION_FACTOR)
    for report in REPORTS:
        options.forbid(report, WITH_OVERRIDES)


def _run_action(options: ParsedOptions, out: TextIO) -> int:
    actions = {CREATE: _create, ALTER: _alter, LIST: _list, DESCRIBE: _describe, DELETE: _delete}
    (act,) = (act for action, act in actions.items() if options.has(action))
    with connect_as_told(options) as cluster:
        try:
            act(options, cluster, out)
        except (ClientError, ToolError, UsageError, BadFilterError) as error:
            print(f"Error while executing topic command : {error}", file=out)
            return 1
    return 0


def _create(options: ParsedOptions, cluster: Cluster, out: TextIO) -> None:
    topic = NewTopic(
        name=options.value(TOPIC),
        partitions=options.find(PARTITIONS),
        replication_factor=options.find(REPLICATION_FACTOR),
        assignment=dict(enumerate(_parse_assignment(options.find(REPLICA_ASSIGNMENT) or ""))),
        configs=_parse_configs(options.values(CONFIG)),
    )
    if "." in topic.name or "_" in topic.name:
        print(COLLISION_WARNING, file=out)
    if topic.replication_factor is not None and not 1 <= topic.replication_factor <= _REPLICATION_FACTOR_MAX:
        raise ToolError(f"The replication factor must be between 1 and {_REPLICATION_FACTOR_MAX} inclusive")
    if topic.partitions is not None and topic.partitions < 1:
        raise ToolError("The partitions must be greater than 0")
    try:
        raise_first(create_topics(cluster, [topic]))
    except ClientError as error:
        if error.code != ErrorCode.TOPIC_ALREADY_EXISTS or not options.has(IF_NOT_EXISTS):
            raise
    else:
        print(f"Created topic {topic.name}.", file=out)


def _parse_assignment(argument: str) -> list[list[int]]:
    """The brokers of each partition."""
    partitions: list[list[int]] = []
    for index, part in enumerate(argument.rstrip(",").split(",") if argument else ()):
        brokers = [parse_number(each.strip()) for each in part.rstrip(":").split(":")]
        repeated = sorted({broker for broker in brokers if brokers.count(broker) > 1})
        if repeated:
            raise ToolError(
                f"Partition replica lists may not contain duplicate entries: {','.join(map(str, repeated))}"
            )
        partitions.append(brokers)
        if len(brokers) != len(partitions[0]):
            raise ToolError(f"Partition {index} has different replication factor: {brokers}")
    return partitions


def _parse_configs(arguments: Sequence[str]) -> dict[str, str]:
    configs = {}
    for argument in arguments:
        name, *values = re.split(r"\s*=\s*", argument)
        if len(values) != 1 or not values[0]:
            raise ToolError(
                'requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".'
            )
        configs[name.strip()] = values[0].strip()
    return configs


def _list(options: ParsedOptions, cluster: Cluster, out: TextIO) -> None:
    print("\n".join(_find_topics(options, cluster)), file=out)


def _alter(options: ParsedOptions, cluster: Cluster, out: TextIO) -> None:  # noqa: ARG001 -- says nothing
    count = options.value(PARTITIONS)
    assignment = _parse_assignment(options.find(REPLICA_ASSIGNMENT) or "")
    topics = _find_expected_topics(options, cluster)
    if not topics:
        return
    described = raise_first(describe_topics(cluster, topics)) if assignment else {}
    assignments = {name: assignment[len(topic.partitions) :] for name, topic in described.items()}
    raise_first(create_partitions(cluster, dict.fromkeys(topics, count), assignments))


def _delete(options: ParsedOptions, cluster: Cluster, out: TextIO) -> None:  # noqa: ARG001 -- says nothing
    topics = _find_expected_topics(options, cluster)
    if topics:
        raise_first(delete_topics(cluster, topics))


def _describe(options: ParsedOptions, cluster: Cluster, out: TextIO) -> None:
    topic_id = _parse_topic_id(options.find(TOPIC_ID))
    topics = _describe_by_name(options, cluster) if topic_id is None else _describe_by_id(options, cluster, topic_id)
    if topics:
        wanted = Wanted(
            under_replicated=options.has(UNDER_REPLICATED),
            unavailable=options.has(UNAVAILABLE),
            under_min_isr=options.has(UNDER_MIN_ISR),
            at_min_isr=options.has(AT_MIN_ISR),
            overridden_only=options.has(WITH_OVERRIDES),
        )
        TopicsDescription(cluster, topics, wanted).print(out)


def _describe_by_name(options: ParsedOptions, cluster: Cluster) -> list[TopicDescription]:
    topics = _find_expected_topics(options, cluster)
    limit = options.find(PARTITIONS_PER_RESPONSE)
    limits = {} if limit is None else {"partitions_per_response": limit}
    return list(raise_first(describe_topics(cluster, topics, **limits)).values())


def _describe_by_id(options: ParsedOptions, cluster: Cluster, topic_id: Uuid) -> list[TopicDescription]:
    listed = list_topics(cluster)
    if any(topic.topic_id == topic_id for topic in listed if _is_wanted(options, topic.name)):
        return [describe_topic_by_id(cluster, topic_id)]
    if options.has(IF_EXISTS):
        return []
    raise ToolError(f"TopicId '{topic_id}' does not exist as expected")


def _parse_topic_id(argument: str | None) -> Uuid | None:
    if argument is None:
        return None
    try:
        topic_id = Uuid.parse(argument)
    except ValueError as error:
        raise ToolError(str(error)) from None
    return None if topic_id == ZERO_UUID else topic_id


def _find_expected_topics(options: ParsedOptions, cluster: Cluster) -> list[str]:
    """The topics that are meant; that there are none is an error, unless it was foreseen."""
    topics = _find_topics(options, cluster)
    asked = options.find(TOPIC)
    if asked and not topics and not options.has(IF_EXISTS):
        raise ToolError(f"Topic '{asked}' does not exist as expected")
    return topics


def _find_topics(options: ParsedOptions, cluster: Cluster) -> list[str]:
    asked = options.find(TOPIC)
    topic_filter = None if asked is None else TopicFilter(asked)
    names = sorted(topic.name for topic in list_topics(cluster))
    return [name for name in names if _is_wanted(options, name) and (topic_filter is None or topic_filter.allows(name))]


def _is_wanted(options: ParsedOptions, topic: str) -> bool:
    return topic not in INTERNAL_TOPICS or not options.has(EXCLUDE_INTERNAL)
