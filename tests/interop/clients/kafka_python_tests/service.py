"""What kafka-python's integration tests import and its source distribution leaves out: a broker that runs already."""

from __future__ import annotations


class ExternalService:
    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def open(self) -> None:
        """It is open."""

    def close(self) -> None:
        """Whoever started it closes it."""


class SpawnedService:
    """Imported for brokers that the tests would start, which they do not here."""
