"""Whether a regular expression is one of RE2, with which groups subscribe; errors are told in Kafka's words."""

from __future__ import annotations

from typing import Final, TextIO

import re2  # type: ignore[import-untyped] # The library has no types; what leaves this file does.

# What the library says, up to the colon, and what the library in Kafka's tool says to the same.
_REASONS: Final = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "unexpected )": "regexp/syntax: internal error",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
}


def tell_whether_valid(pattern: str, out: TextIO) -> None:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace").partition(": ")[0]
        print(f"The regular expression `{pattern}` is invalid: {_REASONS.get(reason, reason)}.", file=out)
    else:
        print(f"The regular expression `{pattern}` is valid.", file=out)
