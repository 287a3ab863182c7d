"""`kafka-features` shows and changes levels as Kafka's tool does, and looks up those of releases."""

from __future__ import annotations

from io import StringIO

import pytest

from barnabas.cli.feature_levels import show_level
from barnabas.cli.features import run
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from unit.client.scripted_node import ScriptedNode

ACCEPTED = UpdateFeaturesResponse(throttle_time_ms=0, error_code=0, error_message=None)
REFUSED = UpdateFeaturesResponse(
    throttle_time_ms=0, error_code=ErrorCode.INVALID_UPDATE_VERSION, error_message="too high"
)


def call(*arguments: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    return run(arguments, out, err), out.getvalue(), err.getvalue()


def update(answer: UpdateFeaturesResponse, arguments: str) -> tuple[tuple[int, str, str], UpdateFeaturesRequest]:
    with ScriptedNode({UpdateFeaturesRequest: answer}) as node:
        said = call("--bootstrap-server", str(node.address), *arguments.split())
        (request,) = node.asked(UpdateFeaturesRequest)
    assert isinstance(request, UpdateFeaturesRequest)
    return said, request


def test_features_are_described_by_name() -> None:
    with ScriptedNode() as node:
        for option in ("--bootstrap-server", "--bootstrap-controller"):
            status, out, err = call(option, str(node.address), "describe", "--node-id", "1")
            assert (status, err) == (0, "")
            group, metadata = out.splitlines()
            assert group == (
                f"Feature: {'group.version':40}  SupportedMinVersion: {'0':15}  SupportedMaxVersion: {'1':15}  "
                f"FinalizedVersionLevel: {'0':15}  Epoch: 41"
            )
            assert metadata == (
                f"Feature: {'metadata.version':40}  SupportedMinVersion: {'3.3-IV3':15}  "
                f"SupportedMaxVersion: {'4.3-IV0':15}  FinalizedVersionLevel: {'4.2-IV1':15}  Epoch: 41"
            )


def test_what_is_not_known_is_shown_as_such() -> None:
    assert show_level("metadata.version", 21) == "3.9-IV0"
    assert show_level("metadata.version", 99) == "UNKNOWN 99"
    assert show_level("other.version", 99) == "99"
    with ScriptedNode() as node:
        unknown = node.api_versions()
        unknown.finalized_features_epoch = -1
        node.script(ApiVersionsRequest, unknown)
        _, out, _ = call("--bootstrap-server", str(node.address), "describe")
    assert out.splitlines()[0].endswith("Epoch: -")


@pytest.mark.parametrize(
    ("arguments", "levels", "upgrade_type", "out"),
    [
        (
            "upgrade --feature b.version=2 --feature a.version=1",
            {"b.version": 2, "a.version": 1},
            1,
            "a.version was upgraded to 1.\nb.version was upgraded to 2.\n",
        ),
        ("upgrade --feature a.version=1 --dry-run", {"a.version": 1}, 1, "a.version can be upgraded to 1.\n"),
        ("downgrade --feature a.version=1", {"a.version": 1}, 2, "a.version was downgraded to 1.\n"),
        ("downgrade --feature a.version=1 --unsafe", {"a.version": 1}, 3, "a.version was downgraded to 1.\n"),
        ("disable --feature a.version", {"a.version": 0}, 2, "a.version was disabled.\n"),
        ("disable --feature a.version --unsafe --dry-run", {"a.version": 0}, 3, "a.version can be disabled.\n"),
        (
            "upgrade --metadata 4.0",
            {"metadata.version": 25},
            1,
            " `metadata` flag is deprecated and may be removed in a future release.\n"
            "metadata.version was upgraded to 25.\n",
        ),
        (
            "upgrade --release-version 4.0",
            {"metadata.version": 25, "kraft.version": 1, "transaction.version": 2, "group.version": 1},
            1,
            "group.version was upgraded to 1.\nkraft.version was upgraded to 1.\n"
            "metadata.version was upgraded to 25.\ntransaction.version was upgraded to 2.\n",
        ),
    ],
)
def test_levels_are_changed(arguments: str, levels: dict[str, int], upgrade_type: int, out: str) -> None:
    said, request = update(ACCEPTED, arguments)
    assert said == (0, out, "")
    assert {each.feature: each.max_version_level for each in request.feature_updates} == levels
    assert {each.upgrade_type for each in request.feature_updates} == {upgrade_type}
    assert request.validate_only == ("--dry-run" in arguments)


def test_a_downgrade_to_a_release_names_what_the_release_does_not_have() -> None:
    _, request = update(ACCEPTED, "downgrade --release-version 4.0")
    levels = {each.feature: each.max_version_level for each in request.feature_updates}
    assert (levels["share.version"], levels["streams.version"], levels["metadata.version"]) == (0, 0, 25)


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        ("upgrade --feature a.version=9", "Could not upgrade a.version to 9. too high\n"),
        ("downgrade --feature a.version=9 --dry-run", "Can not downgrade a.version to 9. too high\n"),
        ("disable --feature a.version", "Could not disable a.version. too high\n"),
    ],
)
def test_levels_that_are_refused_are_counted(arguments: str, out: str) -> None:
    said, _ = update(REFUSED, arguments)
    assert said == (1, out, "1 out of 1 operation(s) failed.\n")


def test_the_levels_of_a_release_need_no_cluster() -> None:
    status, out, err = call("version-mapping", "--release-version", "4.0")
    assert (status, err) == (0, "")
    assert out.startswith("metadata.version=25 (4.0)\nkraft.version=1\n")
    assert call("version-mapping")[1].startswith("metadata.version=30 (4.3-IV0)\n")


def test_dependencies_need_no_cluster() -> None:
    features = ("eligible.leader.replicas.version=1", "group.version=1", "metadata.version=7")
    options = [word for feature in features for word in ("--feature", feature)]
    assert call("feature-dependencies", *options) == (
        0,
        "eligible.leader.replicas.version=1 requires:\n    metadata.version=23 (4.0-IV1)\n"
        "group.version=1 has no dependencies.\nmetadata.version=7 (3.3-IV3) has no dependencies.\n",
        "",
    )


AT = "--bootstrap-server 127.0.0.1:1"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "Command line error: too few arguments. Type --help for help."),
        ("describe", "You must specify either --bootstrap-controller or --bootstrap-server.. Type --help for help."),
        ("feature-dependencies", "Command line error: argument --feature is required. Type --help for help."),
        ("feature-dependencies --feature x", "Can't parse feature=level string x: equals sign not found."),
        ("feature-dependencies --feature x=y", "Can't parse feature=level string x=y: unable to parse y as a short."),
        ("feature-dependencies --feature x=1", "Unknown feature: x"),
        ("feature-dependencies --feature group.version=9", "No feature:group.version with feature level 9"),
        ("feature-dependencies --feature metadata.version=99", "Unknown metadata.version 99"),
        ("version-mapping --release-version 1", "Unknown metadata.version '1'."),
        (f"{AT} describe --node-id=-1", "Invalid node id -1: must be non-negative."),
        (f"{AT} upgrade", "You must specify at least one feature to upgrade"),
        (f"{AT} disable", "You must specify at least one feature to disable"),
        (f"{AT} upgrade --feature a=1 --feature a=2", "Feature a was specified more than once."),
        (f"{AT} disable --feature a --feature a", "Feature a was specified more than once."),
        (f"{AT} upgrade --feature =1", "Provided feature can not be empty."),
        (f"{AT} upgrade --release-version 4.0 --feature a=1", "Can not specify `release-version` with other feature"),
        ("--bootstrap-server nowhere describe", "Failed to create new KafkaAdminClient"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: str, complaint: str) -> None:
    status, out, err = call(*arguments.split())
    assert (status, out) == (1, "")
    assert complaint in err


def test_the_help_page_is_printed() -> None:
    status, out, err = call("--help")
    assert (status, err) == (0, "")
    assert "feature-dependencies" in out
