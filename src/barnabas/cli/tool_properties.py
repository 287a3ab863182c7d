"""What the tools that produce and consume have in common: how they are told of a cluster and of properties."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from barnabas.cli.options import Option, ParsedOptions, UsageError


def parse_pairs(words: Iterable[str]) -> dict[str, str]:
    """`name=value` words; a name alone has an empty value."""
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def check_bootstrap(hosts: str | None) -> str:
    """The list of `host:port`, if it is one."""
    if hosts is None or not hosts.strip():
        raise UsageError("Error while validating the bootstrap address\n", shows_help=True)
    # Java drops what is empty behind the last comma.
    for host in hosts.rstrip(",").split(","):
        port = host.rpartition(":")[2] if ":" in host else ""
        if not port.isascii() or not port.isdigit():
            raise UsageError("Please provide valid host:port like host1:9091,host2:9092\n", shows_help=True)
    return hosts


def check_one_of(options: ParsedOptions, *choices: Option[Any]) -> None:
    if sum(options.has(choice) for choice in choices) != 1:
        names = ", ".join(f"[{choice.name}]" for choice in choices)
        raise UsageError(f"Exactly one of the following arguments is required: {names}", shows_help=True)
