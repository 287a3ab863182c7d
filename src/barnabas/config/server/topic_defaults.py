"""The settings of a broker that are defaults of topic settings: the same declaration under the broker's name.

Those whose topic setting can be set in several units, such as `log.retention.hours`, are declared with the log.
"""

from __future__ import annotations

from dataclasses import replace

from barnabas.config.setting import Reload, Setting
from barnabas.config.topic import TOPIC_SETTINGS


def _for_topics_without(setting: Setting, name: str) -> Setting:
    doc = f"For topics without a `{setting.name}` of their own: {setting.doc[0].lower()}{setting.doc[1:]}"
    return replace(setting, name=name, doc=doc, synonyms=(), reload=Reload.CLUSTER_WIDE)


TOPIC_DEFAULT_SETTINGS: tuple[Setting, ...] = tuple(
    _for_topics_without(setting, setting.synonyms[0].name) for setting in TOPIC_SETTINGS if len(setting.synonyms) == 1
)
