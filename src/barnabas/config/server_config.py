"""What a `server.properties` file says, as typed values: every setting has one, and names that are unknown are kept.

A value stands for itself: `log.retention.ms` is None where only `log.retention.hours` was given. `resolved` and
`topic_defaults` follow the synonyms. Secrets do not show in the representation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from barnabas.config.server import SERVER_SETTINGS
from barnabas.config.setting import ConfigError, Setting, Synonym, Value
from barnabas.config.topic import TOPIC_SETTINGS

_OF_A_LISTENER = re.compile(r"listener\.name\.[^.]+\.(?P<rest>.+)")
# What follows the name of a mechanism in the name of a setting.
_OF_A_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
# Settings that Kafka does not declare with the others, because only its own authorizer reads them.
_OF_THE_AUTHORIZER = {"super.users", "allow.everyone.if.no.acl.found"}
_PREFIX_SETTINGS = ("remote.log.storage.manager.impl.prefix", "remote.log.metadata.manager.impl.prefix")


@dataclass(frozen=True)
class ServerConfig:
    """The value of every setting of a node, and the text of those that were given."""

    values: Mapping[str, Value] = field(repr=False)
    given: Mapping[str, str] = field(repr=False)
    unknown: tuple[str, ...]

    def integer(self, name: str) -> int:
        value = self.values[name]
        assert isinstance(value, int), name
        return value

    def number(self, name: str) -> float:
        value = self.values[name]
        assert isinstance(value, int | float), f"{name} is no number"
        return value

    def text(self, name: str) -> str:
        value = self.values[name]
        assert isinstance(value, str), name
        return value

    def text_or_none(self, name: str) -> str | None:
        return None if self.values[name] is None else self.text(name)

    def boolean(self, name: str) -> bool:
        value = self.values[name]
        assert isinstance(value, bool), name
        return value

    def words(self, name: str) -> tuple[str, ...]:
        value = self.values[name]
        assert isinstance(value, tuple), name
        return value

    def words_or_none(self, name: str) -> tuple[str, ...] | None:
        return None if self.values[name] is None else self.words(name)

    def resolved(self, name: str) -> Value:
        """A setting's value, or else that of the first synonym that has one, in the setting's own unit."""
        return self._first((Synonym(name), *SERVER_SETTINGS[name].synonyms))

    def topic_defaults(self) -> dict[str, Value]:
        """The settings of a topic that sets none of its own."""
        defaults = {
            setting.name: self._first(setting.synonyms) if setting.synonyms else setting.default
            for setting in TOPIC_SETTINGS
        }
        retention_ms = defaults["retention.ms"]
        assert isinstance(retention_ms, int)
        return defaults | {"retention.ms": max(retention_ms, -1)}

    def _first(self, synonyms: tuple[Synonym, ...]) -> Value:
        for synonym in synonyms:
            value = self.values[synonym.name]
            if value is not None:
                return value * synonym.factor if isinstance(value, int) and synonym.factor > 1 else value
        return None

    def of_listener(self, listener: str) -> Mapping[str, Value]:
        """The values as they hold for a listener, which may have some of its own behind `listener.name.{listener}.`."""
        prefix = f"listener.name.{listener.lower()}."
        own = {name.removeprefix(prefix): text for name, text in self.given.items() if name.startswith(prefix)}
        return {**self.values, **{name: declared(name).parse(text) for name, text in own.items() if is_declared(name)}}

    def shown(self) -> Iterator[tuple[str, str]]:
        """Every value as it may stand in a log, secrets hidden, by name."""
        for name in sorted(SERVER_SETTINGS):
            yield name, SERVER_SETTINGS[name].shown(self.values[name])


def parse_server_config(given: Mapping[str, str]) -> ServerConfig:
    """Read settings by their declarations; ConfigError names the one that is wrong and says what it may be."""
    text = dict(given)
    for name, other in (("node.id", "broker.id"), ("broker.id", "node.id")):
        if name not in text and other in text:
            text[name] = text[other]
    values = {name: setting.value_in(text) for name, setting in SERVER_SETTINGS.items()}
    if values["config.providers"]:
        raise ConfigError(
            "Invalid value for configuration config.providers: they are Java classes, which cannot be loaded here; "
            "write the values themselves"
        )
    prefixes = tuple(str(values[name]) for name in _PREFIX_SETTINGS)
    unknown = []
    for name in text:
        of_listener = _OF_A_LISTENER.fullmatch(name)
        base = of_listener["rest"] if of_listener else name
        if of_listener and is_declared(base):
            _parse_for_listener(name, declared(base), text[name])
        elif not is_declared(base) and base not in _OF_THE_AUTHORIZER and not name.startswith(prefixes):
            unknown.append(name)
    return ServerConfig(MappingProxyType(values), MappingProxyType(text), tuple(sorted(unknown)))


def _parse_for_listener(name: str, setting: Setting, text: str) -> None:
    try:
        setting.parse(text)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None


def is_declared(name: str) -> bool:
    """Whether this is a setting, or one of a mechanism such as `scram-sha-256.sasl.jaas.config`."""
    return name in SERVER_SETTINGS or name.endswith(tuple("." + each for each in _OF_A_MECHANISM))


def declared(name: str) -> Setting:
    if name in SERVER_SETTINGS:
        return SERVER_SETTINGS[name]
    return SERVER_SETTINGS[next(each for each in _OF_A_MECHANISM if name.endswith("." + each))]
