"""The benchmark command: prints the table of each part that is asked for, all of them without arguments."""

from __future__ import annotations

import importlib
import sys

from bench.measure import print_table

# Each is a module bench.<name> with TITLE and run() -> list[Row].
PARTS = (
    "protocol",
    "records",
    "log",
    "recovery",
    "cleaner",
    "metadata",
    "produce",
    "network",
    "quorum",
    "broker",
    "groups",
)


def main(arguments: list[str]) -> int:
    unknown = [name for name in arguments if name not in PARTS]
    if unknown:
        print(f"usage: script/bench [PART ...]\nparts: {', '.join(PARTS)} (all without arguments)", file=sys.stderr)
        return 0 if unknown in (["--help"], ["-h"]) else 2
    for name in arguments or PARTS:
        part = importlib.import_module(f"bench.{name}")
        print_table(part.TITLE, part.run())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
