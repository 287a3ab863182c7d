"""The limit on open files, in a process of its own: a limit that was raised stays raised."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import resource
from barnabas.runtime.descriptors import raise_descriptor_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
assert raise_descriptor_limit() == 128
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (128, 128)
assert raise_descriptor_limit() == 128
"""


def test_the_limit_is_raised_to_the_highest_that_is_granted() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
