"""Settings of a running broker: which follow the metadata, who hears of it, and what is never taken."""

from __future__ import annotations

from barnabas.broker.dynamic_settings import DynamicSettings
from barnabas.broker.topic_configs import BrokerConfigs
from barnabas.config.node_rules import parse_node
from barnabas.metadata.configs import ConfigResourceType
from barnabas.metadata.delta import MetadataDelta
from barnabas.metadata.image import EMPTY_IMAGE, Provenance
from node_settings import BROKER
from unit.broker.hosting import config_record

ALL, OWN, OTHER = "", "1", "2"


class Followed:
    def __init__(self, **properties: str) -> None:
        given = {**BROKER, **{name.replace("_", "."): value for name, value in properties.items()}}
        self.settings = DynamicSettings(parse_node(given), BrokerConfigs(1, given))
        self.heard: list[object] = []
        self._image = EMPTY_IMAGE

    def set(self, resource: str, name: str, value: str | None) -> None:
        delta = MetadataDelta(self._image)
        delta.replay(config_record(resource, name, value, ConfigResourceType.BROKER))
        self._image = delta.apply(Provenance())
        self.settings.apply(delta, self._image)

    def value(self, name: str) -> object:
        return self.settings.current.values[name]


def test_what_is_said_to_one_broker_outweighs_what_is_said_to_all_and_that_its_properties() -> None:
    followed = Followed(max_connections="5")
    followed.set(ALL, "max.connections", "6")
    assert followed.value("max.connections") == 6
    followed.set(OWN, "max.connections", "7")
    assert followed.value("max.connections") == 7
    followed.set(OTHER, "max.connections", "8")
    assert followed.value("max.connections") == 7
    followed.set(OWN, "max.connections", None)
    followed.set(ALL, "max.connections", None)
    assert followed.value("max.connections") == 5


def test_subscribers_hear_of_what_has_changed_and_of_nothing_else() -> None:
    followed = Followed()
    followed.settings.subscribe(lambda node: followed.heard.append(node.settings.values["max.connections"]))
    followed.set(ALL, "max.connections", "6")
    followed.set(ALL, "max.connections", "6")
    followed.set(OTHER, "max.connections", "9")
    assert followed.heard == [6]


def test_what_only_a_start_reads_stays() -> None:
    followed = Followed()
    followed.set(OWN, "log.dirs", "/elsewhere")
    followed.set(ALL, "node.id", "9")
    assert followed.settings.node.log_dirs == ("/data/a", "/data/b")
    assert followed.settings.node.node_id == 1


def test_a_broker_that_could_not_start_so_goes_on_as_it_was() -> None:
    followed = Followed()
    followed.set(OWN, "max.connections", "6")
    followed.set(OWN, "cordoned.log.dirs", "/elsewhere")
    assert followed.value("max.connections") == 6
    assert not followed.settings.node.cordoned_log_dirs
    followed.set(OWN, "cordoned.log.dirs", "/data/b")
    assert followed.settings.node.cordoned_log_dirs == ("/data/b",)
