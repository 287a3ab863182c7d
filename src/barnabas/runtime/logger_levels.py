"""The levels of this process's loggers, by the names that Kafka has for them."""

from __future__ import annotations

import logging
from typing import Final

ROOT: Final = "root"
_NAMES: Final = {
    logging.DEBUG: "DEBUG",
    logging.INFO: "INFO",
    logging.WARNING: "WARN",
    logging.ERROR: "ERROR",
    logging.CRITICAL: "FATAL",
}

_TRACE: Final = 5
_LEVELS: Final = {"TRACE": _TRACE, **{name: level for level, name in _NAMES.items()}}


def logger_levels() -> dict[str, str]:
    """What each logger lets through, be it told so itself or through one above it."""
    loggers = {name: each for name, each in logging.root.manager.loggerDict.items() if isinstance(each, logging.Logger)}
    return {name: _name(each) for name, each in {ROOT: logging.root, **loggers}.items()}


def _name(logger: logging.Logger) -> str:
    level = logger.getEffectiveLevel()
    return _NAMES.get(level) or ("TRACE" if level < logging.DEBUG else logging.getLevelName(level))


def set_logger_level(name: str, level: str | None) -> None:
    """Give a logger a level of its own, by Kafka's name for it, or take it away again."""
    logger = logging.root if name == ROOT else logging.getLogger(name)
    logger.setLevel(logging.NOTSET if level is None else _LEVELS[level])
