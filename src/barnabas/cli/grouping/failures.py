"""What goes wrong in a command about groups, in the words that Kafka's tool has for it.

The tool ends well even then. A failure is told on the output, by a line that shows through how many layers of Java it
came: some calls give an error as it is, some by its name, and some wrapped once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from barnabas.cli.error_lines import error_line
from barnabas.client.admin.groups import NoBrokersError, NotConsumerGroupError
from barnabas.client.errors import ClientError

WRAPPED: Final = "java.util.concurrent.ExecutionException: "


class GroupCommandError(Exception):
    """A line that tells why a command about groups was given up."""


def failure_line(error: ClientError) -> str:
    if isinstance(error, NotConsumerGroupError):
        return f"java.lang.IllegalArgumentException: {error}"
    if isinstance(error, NoBrokersError):
        return f"org.apache.kafka.common.KafkaException: {error}"
    return error_line(error)


@contextmanager
def told_by_name(prefix: str = "") -> Iterator[None]:
    """An error of the cluster in here is told by its name, behind the prefix."""
    try:
        yield
    except ClientError as error:
        raise GroupCommandError(f"{prefix}{failure_line(error)}") from error
