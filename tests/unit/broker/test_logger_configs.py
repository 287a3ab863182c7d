"""Levels of loggers change all together or not at all."""

from __future__ import annotations

import pytest

from barnabas.broker.logger_configs import LoggerConfigs
from barnabas.controller.config_changes import ConfigOperation
from barnabas.protocol.errors import ApiError, ErrorCode
from barnabas.protocol.messages.incremental_alter_configs import AlterableConfig, AlterConfigsResource

SET, DELETE, APPEND = ConfigOperation.SET, ConfigOperation.DELETE, ConfigOperation.APPEND
Change = tuple[str, ConfigOperation, str | None]


def change(*changes: Change, name: str = "1", is_dry: bool = False) -> dict[str, str | None]:
    made: dict[str, str | None] = {}
    loggers = LoggerConfigs(1, lambda: {"root": "INFO", "raft": "INFO"}, made.__setitem__)
    configs = [AlterableConfig(name=key, config_operation=operation, value=value) for key, operation, value in changes]
    resource = AlterConfigsResource(resource_type=8, resource_name=name, configs=configs)
    try:
        loggers.change(resource, is_dry=is_dry)
    except ApiError:
        assert made == {}
        raise
    return made


def test_levels_are_set_and_taken_away() -> None:
    changes: tuple[Change, ...] = (("root", SET, "WARN"), ("raft", DELETE, None))
    assert change(*changes) == {"root": "WARN", "raft": None}
    assert change(*changes, is_dry=True) == {}


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (("absent", SET, "INFO"), ErrorCode.INVALID_CONFIG),
        (("absent", DELETE, None), ErrorCode.INVALID_CONFIG),
        (("raft", SET, "LOUD"), ErrorCode.INVALID_CONFIG),
        (("raft", SET, None), ErrorCode.INVALID_CONFIG),
        (("root", DELETE, None), ErrorCode.INVALID_REQUEST),
        (("raft", APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
    ],
)
def test_one_change_that_cannot_be_made_keeps_the_others_from_being_made(wrong: Change, code: ErrorCode) -> None:
    with pytest.raises(ApiError) as refusal:
        change(("raft", SET, "DEBUG"), wrong)
    assert refusal.value.code is code


@pytest.mark.parametrize("name", ["", "2", "one"])
def test_a_node_changes_its_own_levels_only(name: str) -> None:
    with pytest.raises(ApiError) as refusal:
        change(("raft", SET, "DEBUG"), name=name)
    assert refusal.value.code is ErrorCode.INVALID_REQUEST
