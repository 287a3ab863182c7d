"""`kafka-configs`: what its command line allows, what it asks of a cluster, and what it prints of the answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.configs import run
from barnabas.cli.configuring.quotas import quota_line
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ResponseEntryData,
)
from barnabas.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from barnabas.protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from barnabas.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from barnabas.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from barnabas.protocol.schema import Message
from barnabas.security.scram import ScramMechanism, salt_password
from unit.cli.tool_runs import Said, call
from unit.client.scripted_node import Script
from unit.client.topic_node import Topic, TopicNode

OWN_SOURCES = {2: 1, 4: 2, 8: 6, 16: 7, 32: 8}


def setting(name: str, value: str | None, source: int, *, is_sensitive: bool = False) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=name,
        value=value,
        read_only=False,
        config_source=source,
        is_sensitive=is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=name, value=value, source=source),
            DescribeConfigsSynonym(name=f"log.{name}", value="7", source=5),
        ],
    )


def described(request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    def describe(kind: int, name: str) -> DescribeConfigsResult:
        own = 3 if (kind, name) == (4, "") else OWN_SOURCES[kind]
        settings = [setting("z.own", "1", own), setting("a.default", None, 5, is_sensitive=True)]
        return DescribeConfigsResult(
            error_code=0, error_message=None, resource_type=kind, resource_name=name, configs=settings
        )

    return DescribeConfigsResponse(
        throttle_time_ms=0, results=[describe(each.resource_type, each.resource_name) for each in request.resources]
    )


def altered(request: IncrementalAlterConfigsRequest) -> IncrementalAlterConfigsResponse:
    (resource,) = request.resources
    is_bad = any(each.name == "bad" for each in resource.configs)
    return IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            AlterConfigsResourceResponse(
                error_code=ErrorCode.INVALID_CONFIG if is_bad else ErrorCode.NONE,
                error_message="It is bad." if is_bad else None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        ],
    )


def quotas(_: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    entries = [
        EntryData(
            entity=[EntityData(entity_type="user", entity_name="alice")],
            values=[ValueData(key="consumer_byte_rate", value=1024.0)],
        )
    ]
    return DescribeClientQuotasResponse(throttle_time_ms=0, error_code=0, error_message=None, entries=entries)


CREDENTIALS = DescribeUserScramCredentialsResponse(
    throttle_time_ms=0,
    error_code=0,
    error_message=None,
    results=[
        DescribeUserScramCredentialsResult(
            user="alice",
            error_code=0,
            error_message=None,
            credential_infos=[
                CredentialInfo(mechanism=1, iterations=4096),
                CredentialInfo(mechanism=2, iterations=8192),
            ],
        ),
        DescribeUserScramCredentialsResult(
            user="bob", error_code=ErrorCode.RESOURCE_NOT_FOUND, error_message=None, credential_infos=[]
        ),
        DescribeUserScramCredentialsResult(
            user="eve", error_code=ErrorCode.DUPLICATE_RESOURCE, error_message="Twice.", credential_infos=[]
        ),
    ],
)


def node() -> TopicNode:
    answers: dict[type[Message], Script] = {
        DescribeConfigsRequest: described,
        IncrementalAlterConfigsRequest: altered,
        DescribeClientQuotasRequest: quotas,
        AlterClientQuotasRequest: AlterClientQuotasResponse(
            throttle_time_ms=0, entries=[ResponseEntryData(error_code=0, error_message=None, entity=[])]
        ),
        DescribeUserScramCredentialsRequest: CREDENTIALS,
        AlterUserScramCredentialsRequest: AlterUserScramCredentialsResponse(
            throttle_time_ms=0,
            results=[AlterUserScramCredentialsResult(user="alice", error_code=0, error_message=None)],
        ),
        ListConfigResourcesRequest: lambda request: ListConfigResourcesResponse(
            throttle_time_ms=0,
            error_code=0,
            config_resources=[ConfigResource(resource_name="one", resource_type=request.resource_types[0])],
        ),
        ListGroupsRequest: ListGroupsResponse(error_code=0, groups=[]),
    }
    return TopicNode({"a": Topic(), "b": Topic()}, answers)


def ask(arguments: str) -> Said:
    with node() as broker:
        return call(run, f"--bootstrap-server {broker.address} {arguments}")


OWN = "  z.own=1 sensitive=false synonyms={{{source}:z.own=1, DEFAULT_CONFIG:log.z.own=7}}\n"
DEFAULT = "  a.default=null sensitive=true synonyms={DEFAULT_CONFIG:a.default=null, DEFAULT_CONFIG:log.a.default=7}\n"


@pytest.mark.parametrize(
    ("entity", "shown", "source"),
    [
        ("--entity-type topics --entity-name a", "Dynamic configs for topic a are:", "DYNAMIC_TOPIC_CONFIG"),
        ("--topic b", "Dynamic configs for topic b are:", "DYNAMIC_TOPIC_CONFIG"),
        ("--broker 1", "Dynamic configs for broker 1 are:", "DYNAMIC_BROKER_CONFIG"),
        ("--broker-defaults", "Default configs for brokers in the cluster are:", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
        (
            "--entity-type brokers --entity-default",
            "Default configs for brokers in the cluster are:",
            "DYNAMIC_DEFAULT_BROKER_CONFIG",
        ),
        ("--client-metrics one", "Dynamic configs for client-metric one are:", "DYNAMIC_CLIENT_METRICS_CONFIG"),
        ("--group one", "Dynamic configs for group one are:", "DYNAMIC_GROUP_CONFIG"),
    ],
)
def test_the_settings_of_an_entity_itself_are_shown_with_their_synonyms(entity: str, shown: str, source: str) -> None:
    assert ask(f"--describe {entity}") == (0, f"{shown}\n{OWN.format(source=source)}", "")


def test_all_settings_are_shown_by_name() -> None:
    own = OWN.format(source="DYNAMIC_TOPIC_CONFIG")
    assert ask("--describe --all --topic a") == (0, f"All configs for topic a are:\n{DEFAULT}{own}", "")


def test_loggers_are_shown_whatever_their_source() -> None:
    assert ask("--describe --broker-logger 1").out.count("\n") == 3


def test_everything_of_a_type_is_shown_without_a_name() -> None:
    heads = [line for line in ask("--describe --entity-type brokers").out.splitlines() if not line.startswith(" ")]
    assert heads == ["Dynamic configs for broker 1 are:", "Default configs for brokers in the cluster are:"]
    assert ask("--describe --entity-type topics").out.count("Dynamic configs for topic ") == 2
    assert ask("--describe --entity-type groups").out.startswith("Dynamic configs for group one are:\n")


@pytest.mark.parametrize(
    ("entity", "name"), [("topic", "no"), ("broker", "7"), ("client-metrics", "no"), ("group", "no")]
)
def test_what_does_not_exist_is_said_not_to(entity: str, name: str) -> None:
    shown = entity.removesuffix("s")
    assert ask(f"--describe --{entity} {name}") == (
        0,
        f"The {shown} '{name}' doesn't exist and doesn't have dynamic config.\n",
        "",
    )


def test_quotas_and_credentials_of_users_are_shown() -> None:
    assert ask("--describe --entity-type users") == (
        0,
        "Quota configs for user-principal 'alice' are consumer_byte_rate=1024.0\n"
        "SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=4096, "
        "SCRAM-SHA-512=iterations=8192\n"
        "Error retrieving SCRAM credential configs for user-principal 'eve': DuplicateResourceException: Twice.\n",
        "",
    )
    assert "SCRAM" not in ask("--describe --user-defaults").out
    assert "SCRAM" not in ask("--describe --entity-type users --entity-type clients").out


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (0.00012345, "1.2345E-4"),
        (9999999.5, "9999999.5"),
        (1e7, "1.0E7"),
        (2.5e9, "2.5E9"),
        (123456789.0, "1.23456789E8"),
    ],
)
def test_quotas_are_numbers_as_java_writes_them(value: float, shown: str) -> None:
    assert quota_line({"ip": None}, {"r": value}) == f"Quota configs for the default ip are r={shown}"


def test_parts_of_an_entity_have_their_order() -> None:
    line = quota_line({"client-id": None, "user": "u"}, {"x": 1.0})
    assert line == "Quota configs for user-principal 'u', the default client-id are x=1.0"


def test_settings_are_added_and_deleted(tmp_path: Path) -> None:
    settings = tmp_path / "more.properties"
    settings.write_text("c = d\n")
    with node() as broker:
        at = f"--bootstrap-server {broker.address} --alter --topic a"
        done = (0, "Completed updating config for topic a.\n", "")
        assert call(run, f"{at} --add-config a=b,list=[x,y] --delete-config old,older") == done
        assert call(run, f"{at} --add-config-file {settings}") == done
        first, second = (request.resources[0] for request in broker.asked(IncrementalAlterConfigsRequest))
    assert [(each.name, each.config_operation, each.value) for each in first.configs] == [
        ("old", 1, None),
        ("older", 1, None),
        ("a", 0, "b"),
        ("list", 0, "x,y"),
    ]
    assert [(each.name, each.value) for each in second.configs] == [("c", "d")]


def test_defaults_of_brokers_are_changed_and_loggers_must_be_there() -> None:
    assert ask("--alter --broker-defaults --add-config a=b").out == (
        "Completed updating default config for brokers in the cluster.\n"
    )
    assert ask("--alter --broker-logger 1 --add-config z.own=DEBUG").status == 0
    assert ask("--alter --broker-logger 1 --add-config no=DEBUG --delete-config none").err == (
        "Invalid broker logger(s): none,no\n"
    )


def test_a_refused_setting_is_an_error_of_the_command() -> None:
    with node() as broker:
        at = f"--bootstrap-server {broker.address} --alter --topic a --add-config bad=1"
        assert call(run, at) == (
            1,
            "",
            f"Error while executing config command with args '{at}'\n"
            "org.apache.kafka.common.errors.InvalidConfigurationException: It is bad.\n",
        )


def test_quotas_are_set_and_removed() -> None:
    with node() as broker:
        at = f"--bootstrap-server {broker.address} --alter --entity-type users --entity-name alice"
        assert call(run, f"{at} --add-config producer_byte_rate=7 --delete-config consumer_byte_rate").status == 0
        assert call(run, f"{at} --entity-type clients --entity-default --add-config request_percentage=1.5").status == 0
        first, second = (request.entries[0] for request in broker.asked(AlterClientQuotasRequest))
        filters = [request.components for request in broker.asked(DescribeClientQuotasRequest)]
    assert [(op.key, op.value, op.remove) for op in first.ops] == [
        ("producer_byte_rate", 7.0, False),
        ("consumer_byte_rate", 0.0, True),
    ]
    assert [(part.entity_type, part.entity_name) for part in second.entity] == [("user", "alice"), ("client-id", None)]
    assert [(each.entity_type, each.match_type, each.match) for each in filters[1]] == [
        ("user", 0, "alice"),
        ("client-id", 1, None),
    ]


def test_a_password_is_salted_before_it_leaves() -> None:
    with node() as broker:
        at = f"--bootstrap-server {broker.address} --alter --user alice"
        assert call(run, f"{at} --add-config SCRAM-SHA-256=[iterations=8192,password=a=b]").status == 0
        assert call(run, f"{at} --delete-config SCRAM-SHA-512").status == 0
        first, second = broker.asked(AlterUserScramCredentialsRequest)
    (credential,) = first.upsertions
    assert (credential.name, credential.mechanism, credential.iterations) == ("alice", 1, 8192)
    salted = salt_password(ScramMechanism.SCRAM_SHA_256, "a=b", credential.salt, 8192)
    assert credential.salted_password == salted
    assert [(each.name, each.mechanism) for each in second.deletions] == [("alice", 2)]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--alter --topic a --add-config x", "requirement failed: Invalid entity config: all configs to be added must"),
        ("--alter --topic a --add-config a~b=1", "Invalid character found for config key: a b"),
        ("--alter --user alice --add-config x=1", "Only quota and SCRAM credential configs can be added for 'users'"),
        ("--alter --client c --delete-config SCRAM-SHA-256", "Only quota configs can be deleted for 'clients'"),
        ("--alter --ip 127.0.0.1 --add-config x=1", "Only connection quota configs can be added for 'ips'"),
        ("--alter --user alice --add-config producer_byte_rate=x", "Cannot parse quota configuration value for produ"),
        ("--alter --user alice --delete-config request_percentage", "Invalid config(s): request_percentage"),
        ("--alter --user alice --add-config SCRAM-SHA-256=[passwort=x]", "Invalid credential property SCRAM_SHA_256"),
        ("--alter --user alice --add-config SCRAM-SHA-256=[iterations=1,password=x]", "Iterations 1 is less than the"),
        ("--alter --user alice --add-config SCRAM-SHA-256=[iterations=,password=x]", 'For input string: ""'),
        ("--alter --user-defaults --add-config SCRAM-SHA-256=[password=x]", "The use of --entity-default or --user-de"),
        (
            "--alter --user alice --add-config SCRAM-SHA-256=[password=x],producer_byte_rate=1",
            "Cannot alter both quota and SCRAM credential configs simultaneously for 'users'",
        ),
        ("--alter --user alice --add-config SCRAM-SHA-256=[password=]", "Error while executing config command with"),
        (
            "--alter --entity-type users --entity-type clients --entity-name a --add-config x=1",
            "An entity name must be",
        ),
        ("--describe --entity-type users --entity-name a --entity-name b", "More entity names specified than entity"),
        ("--describe --entity-type topics --entity-name a~b", "Topic name is invalid: 'a b' contains one or more"),
        ("--alter --topic a --add-config-file /no/such/file", "Error while executing config command with args"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: str, complaint: str) -> None:
    said = ask(arguments)
    assert (said.status, said.out) == (1, "")
    assert said.complaint.startswith(complaint)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("{at}", "Command must include exactly one action: --describe, --alter"),
        ("{at} --alter --describe", "Command must include exactly one action: --describe, --alter"),
        ("{at} --describe --topic a --add-config x=y", 'Option "[describe]" can\'t be used with option "[add-config]"'),
        ("--describe --topic a", "Either --bootstrap-server or --bootstrap-controller must be specified."),
        (
            "{at} --bootstrap-controller c:1 --describe --topic a",
            "Only one of --bootstrap-server or --bootstrap-contro",
        ),
        ("{at} --describe", "At least one entity type must be specified"),
        (
            "{at} --describe --entity-type x",
            "Invalid entity type x, the entity type must be one of topics, clients, us",
        ),
        ("{at} --describe --entity-type ips --entity-type ips", "Duplicate entity type(s) specified: ips"),
        ("{at} --describe --entity-type ips --entity-type users", "Only 'users' and 'clients' entity types may be"),
        ("{at} --describe --entity-type users --topic a", "Only 'users' and 'clients' entity types may be specified"),
        (
            "{at} --describe --entity-name a --topic a",
            "--entity-{{type,name,default}} should not be used in conjunction",
        ),
        (
            "{at} --describe --broker one",
            "The entity name for brokers must be a valid integer broker id, but it is: on",
        ),
        ("{at} --describe --ip no.invalid", "The entity name for ips must be a valid IP or resolvable host, but it is"),
        ("{at} --describe --entity-type topics --entity-default", "--entity-default must not be specified with --desc"),
        ("{at} --describe --entity-type broker-loggers", "An entity name must be specified with --describe of broker-"),
        ("{at} --alter --entity-type topics --add-config x=y", "An entity name must be specified with --alter of topi"),
        ("{at} --alter --entity-type ips --add-config x=y", "An entity-name or default entity must be specified with"),
        ("{at} --alter --topic a", "At least one of --add-config, --add-config-file, or --delete-config must be speci"),
        ("{at} --alter --topic a --add-config x=y --add-config-file z", "Only one of --add-config or --add-config-fil"),
    ],
)
def test_a_command_line_that_does_not_hang_together_is_refused(arguments: str, complaint: str) -> None:
    said = call(run, arguments.format(at="--bootstrap-server 127.0.0.1:1"))
    assert (said.status, said.out) == (1, "")
    assert said.complaint.startswith(complaint.format())
