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


def logger_levels() -> dict[str, str]:
    """What each logger lets through, be it told so itself or through one above it."""
    loggers = {name: each for name, each in logging.root.manager.loggerDict.items() if isinstance(each, logging.Logger)}
    return {name: _name(each) for name, each in {ROOT: logging.root, **loggers}.items()}


def _name(logger: logging.Logger) -> str:
    level = logger.getEffectiveLevel()
    return _NAMES.get(level) or ("TRACE" if level < logging.DEBUG else logging.getLevelName(level))
