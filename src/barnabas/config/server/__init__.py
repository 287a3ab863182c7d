"""Every setting of a node, by families; this file puts them together."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from barnabas.config.metadata import METADATA_LOG_SETTINGS
from barnabas.config.raft import RAFT_SETTINGS
from barnabas.config.server.authorization import AUTHORIZATION_SETTINGS
from barnabas.config.server.cleaner import CLEANER_SETTINGS
from barnabas.config.server.fetching import FETCHING_SETTINGS
from barnabas.config.server.group import GROUP_SETTINGS
from barnabas.config.server.log import LOG_SETTINGS
from barnabas.config.server.metadata_internals import METADATA_INTERNAL_SETTINGS
from barnabas.config.server.metrics import METRICS_SETTINGS
from barnabas.config.server.network import NETWORK_SETTINGS
from barnabas.config.server.oauth import OAUTH_SETTINGS
from barnabas.config.server.process import PROCESS_SETTINGS
from barnabas.config.server.quota import QUOTA_SETTINGS
from barnabas.config.server.replication import REPLICATION_SETTINGS
from barnabas.config.server.sasl import SASL_SETTINGS
from barnabas.config.server.share_coordinator import SHARE_COORDINATOR_SETTINGS
from barnabas.config.server.share_group import SHARE_GROUP_SETTINGS
from barnabas.config.server.streams_group import STREAMS_GROUP_SETTINGS
from barnabas.config.server.tiering import TIERING_SETTINGS
from barnabas.config.server.tls import TLS_SETTINGS
from barnabas.config.server.topic_defaults import TOPIC_DEFAULT_SETTINGS
from barnabas.config.server.topics import TOPICS_SETTINGS
from barnabas.config.server.transaction import TRANSACTION_SETTINGS
from barnabas.config.setting import Setting

# By the headings that they have on the reference page.
FAMILIES: Mapping[str, tuple[Setting, ...]] = MappingProxyType(
    {
        "The node": PROCESS_SETTINGS,
        "Listeners and connections": NETWORK_SETTINGS,
        "The quorum": RAFT_SETTINGS,
        "The metadata log": METADATA_LOG_SETTINGS + METADATA_INTERNAL_SETTINGS,
        "Topics": TOPICS_SETTINGS,
        "Defaults of topics": TOPIC_DEFAULT_SETTINGS,
        "Logs": LOG_SETTINGS,
        "The cleaner": CLEANER_SETTINGS,
        "Replication and leaders": REPLICATION_SETTINGS,
        "Fetching": FETCHING_SETTINGS,
        "Groups and offsets": GROUP_SETTINGS,
        "Streams groups": STREAMS_GROUP_SETTINGS,
        "Share groups": SHARE_GROUP_SETTINGS,
        "The share coordinator": SHARE_COORDINATOR_SETTINGS,
        "Transactions": TRANSACTION_SETTINGS,
        "Tiered storage": TIERING_SETTINGS,
        "Quotas": QUOTA_SETTINGS,
        "Authorization": AUTHORIZATION_SETTINGS,
        "TLS": TLS_SETTINGS,
        "SASL": SASL_SETTINGS,
        "OAuth": OAUTH_SETTINGS,
        "Metrics": METRICS_SETTINGS,
    }
)

SERVER_SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {setting.name: setting for family in FAMILIES.values() for setting in family}
)
