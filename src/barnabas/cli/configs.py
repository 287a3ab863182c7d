"""`kafka-configs`: shows and changes settings of topics, brokers, their loggers, client metrics and groups, and the
quotas and credentials of users, clients and addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from barnabas.cli.cluster_access import (
    BOOTSTRAP_CONTROLLER,
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ToolError,
    connect_as_told,
)
from barnabas.cli.configuring.entities import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    CLIENTS,
    GROUPS,
    IPS,
    TOPICS,
    USERS,
    Entities,
)
from barnabas.cli.entry import start
from barnabas.cli.error_lines import error_lines
from barnabas.cli.options import ParsedOptions, Tool, UsageError, flag, text
from barnabas.cli.zookeeper import refuse_zookeeper
from barnabas.client.errors import ClientError
from barnabas.config.setting import ConfigError

ALTER = flag("alter", "Change settings.")
DESCRIBE = flag("describe", "Show settings.")
ALL = flag("all", "Show all settings, not only those that were set for the entity itself.")
ENTITY_TYPE = text(
    "entity-type",
    "What has the settings: topics, clients, users, brokers, broker-loggers, ips, client-metrics or groups. "
    "Users and clients can be given together.",
    argument="type",
)
ENTITY_NAME = text("entity-name", "Its name, or the id of a broker.", argument="name")
ENTITY_DEFAULT = flag("entity-default", "What holds for all clients, users, brokers or ips that have nothing else.")
ADD_CONFIG = text(
    "add-config", "Settings and their values; a value with commas stands in brackets.", argument="k1=v1,k2=[v1,v2]"
)
ADD_CONFIG_FILE = text("add-config-file", "A properties file of settings and their values.", argument="file")
DELETE_CONFIG = text("delete-config", "Settings that become again what they are by default.", argument="k1,k2")
# An option for each type of entity, by its name or as the default of its type.
NAMED: Final = {
    text("topic", "The topic that has the settings.", argument="name"): TOPICS,
    text("client", "The client id.", argument="id"): CLIENTS,
    text("user", "The name of the user's principal.", argument="name"): USERS,
    text("broker", "The id of the broker.", argument="id"): BROKERS,
    text("broker-logger", "The id of the broker whose loggers are meant.", argument="id"): BROKER_LOGGERS,
    text("ip", "The address.", argument="address"): IPS,
    text("client-metrics", "The name of a subscription to client metrics.", argument="name"): CLIENT_METRICS,
    text("group", "The id of the group.", argument="id"): GROUPS,
}
DEFAULTS: Final = {
    flag("client-defaults", "What holds for all clients."): CLIENTS,
    flag("user-defaults", "What holds for all users."): USERS,
    flag("broker-defaults", "What holds for all brokers."): BROKERS,
    flag("ip-defaults", "What holds for all addresses."): IPS,
}
TOOL = Tool(
    "kafka-configs",
    "Shows and changes settings of topics, clients, users, brokers, ips, client metrics and groups.",
    (
        *(BOOTSTRAP_SERVER, BOOTSTRAP_CONTROLLER, COMMAND_CONFIG, ALTER, DESCRIBE, ALL),
        *(ENTITY_TYPE, ENTITY_NAME, ENTITY_DEFAULT, ADD_CONFIG, ADD_CONFIG_FILE, DELETE_CONFIG),
        *NAMED,
        *DEFAULTS,
    ),
)


def main() -> None:
    start(run)


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Do what the command line says, and give the exit status."""
    if refuse_zookeeper(TOOL.name, arguments, err):
        return 1

    def work(options: ParsedOptions) -> int:
        failed = f"Error while executing config command with args '{' '.join(arguments)}'"
        try:
            _run_action(options, _read_entities(options), out)
        except ToolError as error:
            complaint = str(error)
        except ClientError as error:
            complaint = f"{failed}\n{error_lines(error)}"
        except (ConfigError, OSError) as error:
            complaint = f"{failed}\n{error}"
        else:
            return 0
        out.flush()
        print(complaint, file=err)
        return 1

    return TOOL.run(arguments, work, out=out, err=err)


def _read_entities(options: ParsedOptions) -> Entities:
    """Raises ToolError or UsageError for a command line that does not hang together."""
    if options.has(ALTER) == options.has(DESCRIBE):
        raise UsageError("Command must include exactly one action: --describe, --alter", shows_help=True)
    options.forbid(DESCRIBE, ADD_CONFIG, DELETE_CONFIG)
    named = [(kind, options.value(option)) for option, kind in NAMED.items() if options.has(option)]
    defaults = [(kind, "") for option, kind in DEFAULTS.items() if options.has(option)]
    entities = Entities(
        types=[*options.values(ENTITY_TYPE), *(kind for kind, _ in [*named, *defaults])],
        names=[
            *(name or "" for name in options.in_order(ENTITY_NAME, ENTITY_DEFAULT)),
            *(name for _, name in [*named, *defaults]),
        ],
    )
    entities.check_distinct()
    if not options.has(BOOTSTRAP_SERVER, BOOTSTRAP_CONTROLLER):
        raise ToolError("Either --bootstrap-server or --bootstrap-controller must be specified.")
    entities.check_types()
    if options.has(ENTITY_NAME, ENTITY_TYPE, ENTITY_DEFAULT) and (named or defaults):
        raise ToolError("--entity-{type,name,default} should not be used in conjunction with specific entity flags")
    if options.has(BOOTSTRAP_SERVER) and options.has(BOOTSTRAP_CONTROLLER):
        raise ToolError("Only one of --bootstrap-server or --bootstrap-controller can be specified")
    entities.check_names()
    if options.has(DESCRIBE):
        entities.check_describable(names_default=options.has(ENTITY_DEFAULT))
    else:
        entities.check_alterable()
        _check_changes(options)
    return entities


def _check_changes(options: ParsedOptions) -> None:
    if options.has(ADD_CONFIG) and options.has(ADD_CONFIG_FILE):
        raise ToolError("Only one of --add-config or --add-config-file must be specified")
    if not options.has(ADD_CONFIG, ADD_CONFIG_FILE, DELETE_CONFIG):
        raise ToolError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )


def _run_action(options: ParsedOptions, entities: Entities, out: TextIO) -> None:
    with connect_as_told(options) as cluster:
        if options.has(DESCRIBE):
            from barnabas.cli.configuring.description import describe

            describe(cluster, entities, shows_all=options.has(ALL), out=out)
            return
        from barnabas.cli.configuring.alteration import alter
        from barnabas.cli.configuring.changes import parse_added, parse_deleted

        if len(entities.types) != len(entities.names):
            raise ToolError("An entity name must be specified for every entity type")
        added = parse_added(options.find(ADD_CONFIG), options.find(ADD_CONFIG_FILE))
        alter(cluster, entities, added, parse_deleted(options.values(DELETE_CONFIG)), out)
