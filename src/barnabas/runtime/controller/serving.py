"""Puts together what a controller's listeners answer, and by which settings: access, quotas, routes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from barnabas.broker.api_versions import ApiVersions, Features
from barnabas.broker.handlers.describe_configs import DescribeConfigs
from barnabas.broker.handlers.sasl_state import SASL_STATE_ROUTES
from barnabas.broker.logger_configs import LoggerConfigs
from barnabas.broker.routing import RoutingTable, build_table
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.config.node import NodeConfig
from barnabas.config.setting import ConfigError
from barnabas.controller.operations import OPERATIONS, QUERIES
from barnabas.protocol.api import Listener
from barnabas.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from barnabas.runtime.controller.contexts import LoadedAcls, RequestContexts
from barnabas.runtime.controller.envelope import Envelopes
from barnabas.runtime.controller.logger_configs import AlterConfigsOrLoggers
from barnabas.runtime.controller.routes import AskController, AskQuorum, controller_routes, quorum_routes
from barnabas.runtime.logger_levels import logger_levels, set_logger_level
from barnabas.runtime.quorum.replay import MetadataReplay
from barnabas.security.acls import ANONYMOUS
from barnabas.security.authorizer import Authorizer, AuthorizerRules
from barnabas.security.mutation_quotas import MutationQuotas

LOG: Final = logging.getLogger(__name__)

AUTHORIZER: Final = "authorizer.class.name"
STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def authorizer_rules(node: NodeConfig) -> AuthorizerRules | None:
    """What the settings say of access, None where no authorizer is set. ConfigError names the one that is wrong."""
    name = node.settings.text(AUTHORIZER).strip()
    if not name:
        return None
    if name != STANDARD_AUTHORIZER:
        raise ConfigError(
            f"{AUTHORIZER}: {name} is not known here; set {STANDARD_AUTHORIZER}, or nothing for no checks"
        )
    given = node.settings.given
    super_users = frozenset(filter(None, (user.strip() for user in given.get("super.users", "").split(";"))))
    for user in super_users:
        if ":" not in user:
            raise ConfigError(
                f"super.users: {user!r} is no principal, which is a type, a colon and a name: User:{user}"
            )
    is_default = given.get("allow.everyone.if.no.acl.found", "").strip().lower() == "true"
    return AuthorizerRules(super_users=super_users, is_allowed_without_acls=is_default)


def controller_table(
    node: NodeConfig,
    *,
    replay: MetadataReplay,
    acls: LoadedAcls,
    features: Callable[[], Features],
    ask_controller: AskController,
    ask_quorum: AskQuorum,
) -> RoutingTable:
    """The routes of a controller's listeners, ApiVersions among them."""
    settings = node.settings
    rules = authorizer_rules(node)
    if rules is not None and ANONYMOUS not in rules.super_users:
        LOG.warning(
            "odd setting",
            extra={"reason": f"super.users has no {ANONYMOUS}, which other nodes are on PLAINTEXT: they are shut out"},
        )
    contexts = RequestContexts(
        None if rules is None else Authorizer(rules, acls),
        MutationQuotas(
            lambda: replay.image.client_quotas,
            window_num=settings.integer("controller.quota.window.num"),
            window_size_seconds=settings.integer("controller.quota.window.size.seconds"),
        ),
    )
    loggers = LoggerConfigs(node.node_id, logger_levels, set_logger_level)
    versions = ApiVersions(features)
    families = (
        versions.routes,
        tuple(quorum_routes(ask_quorum, contexts)),
        tuple(
            controller_routes(
                [each for each in (*OPERATIONS, *QUERIES) if each is not IncrementalAlterConfigsRequest],
                ask_controller,
                contexts,
            )
        ),
        (AlterConfigsOrLoggers(loggers, ask_controller, contexts).route,),
        DescribeConfigs(
            BrokerConfigs(node.node_id, settings.given),
            image=lambda: replay.image,
            access=contexts.access,
            loggers=logger_levels,
        ).routes,
        SASL_STATE_ROUTES,
    )
    is_unstable = settings.boolean("unstable.api.versions.enable")
    inner = build_table(*families, listener=Listener.CONTROLLER, unstable_api_versions_enable=is_unstable)
    envelopes = Envelopes(inner.routes, ask_controller, ask_quorum, contexts)
    table = build_table(
        *families, (envelopes.route,), listener=Listener.CONTROLLER, unstable_api_versions_enable=is_unstable
    )
    versions.advertise(table)
    return table
