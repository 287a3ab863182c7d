"""The levels of features that a new cluster starts with: the release's own, but for those that were named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from barnabas.cli.formatting.errors import FormatError
from barnabas.metadata.features import FEATURES, KRAFT_VERSION, FeatureError, check_needs, default_levels
from barnabas.metadata.versions import LATEST_METADATA_VERSION, METADATA_VERSION, MetadataVersion

_SHORT = re.compile(r"[+-]?[0-9]{1,5}")
_DYNAMIC = "--standalone, --initial-controllers, or --no-initial-controllers"


def parse_level(text: str) -> int | None:
    """A number of 16 bits, or None where the text is no such."""
    return int(text) if _SHORT.fullmatch(text) and -(2**15) <= int(text) < 2**15 else None


def parse_features(arguments: Iterable[str]) -> dict[str, int]:
    """Features with their levels from `feature=level`; of one that is named twice the last level stands."""
    levels = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals:
            raise FormatError(f"Can't parse feature=level string {argument}: equals sign not found.")
        level = parse_level(text.strip())
        if level is None:
            raise FormatError(
                f"Can't parse feature=level string {argument}: unable to parse {text.strip()} as a short."
            )
        levels[name.strip()] = level
    return levels


def choose_metadata_version(release: str | None, named: Mapping[str, int]) -> MetadataVersion:
    try:
        if release is None:
            level = named.get(METADATA_VERSION)
            return LATEST_METADATA_VERSION if level is None else MetadataVersion.of_level(level)
        version = MetadataVersion.parse(release)
    except ValueError as error:
        raise FormatError(str(error)) from None
    if METADATA_VERSION in named:
        raise FormatError(f"Use --release-version instead of --feature {METADATA_VERSION}=X to avoid ambiguity.")
    return version


def choose_levels(version: MetadataVersion, named: Mapping[str, int], *, is_dynamic: bool) -> dict[str, int]:
    """The level of every feature in a cluster that starts at `version`, checked against what each depends on."""
    for name in named:
        if name not in FEATURES and name != METADATA_VERSION:
            raise FormatError(f"Unsupported feature: {name}. Supported features are: {', '.join(sorted(FEATURES))}")
    levels = default_levels(version) | dict(named) | {METADATA_VERSION: int(version)}
    levels[KRAFT_VERSION] = _kraft_version(named.get(KRAFT_VERSION), is_dynamic=is_dynamic)
    for name in sorted(FEATURES):
        try:
            check_needs(name, levels[name], levels)
        except FeatureError as error:
            raise FormatError(str(error)) from None
    return levels


def _kraft_version(named: int | None, *, is_dynamic: bool) -> int:
    if named is None:
        return int(is_dynamic)
    if named == 0 and is_dynamic:
        raise FormatError(
            f"Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of the flags {_DYNAMIC} is "
            "used. For dynamic controllers support, try removing the --feature flag for kraft.version."
        )
    if named != 0 and not is_dynamic:
        raise FormatError(
            f"Cannot set kraft.version to {named} unless controller.quorum.voters is empty and one of the flags "
            f"{_DYNAMIC} is used. For dynamic controllers support, try using one of {_DYNAMIC} and removing "
            "controller.quorum.voters."
        )
    return named
