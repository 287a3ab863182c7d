"""Levels of loggers go by Kafka's names."""

from __future__ import annotations

import logging

from barnabas.runtime.logger_levels import logger_levels


def test_each_logger_tells_what_it_lets_through() -> None:
    names = {"DEBUG": logging.DEBUG, "WARN": logging.WARNING, "FATAL": logging.CRITICAL, "TRACE": 5}
    for name, level in names.items():
        logging.getLogger(f"tests.level.{name}").setLevel(level)
    logging.getLogger("tests.level.WARN.below")
    levels = logger_levels()
    assert {name: levels[f"tests.level.{name}"] for name in names} == {name: name for name in names}
    assert levels["tests.level.WARN.below"] == "WARN"
    assert "root" in levels
