"""SCRAM credentials (RFC 5802): what is kept of a password, which is not the password."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from enum import Enum

ITERATIONS_MIN, ITERATIONS_MAX = 4_096, 16_384


class ScramMechanism(Enum):
    """The mechanisms, by the names that SASL has for them."""

    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"

    @property
    def number(self) -> int:
        """What stands for the mechanism in requests and records."""
        return 1 if self is ScramMechanism.SCRAM_SHA_256 else 2

    @property
    def hash_name(self) -> str:
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """What a server keeps to check a client that knows the password, and to show that it knows of it itself."""

    mechanism: ScramMechanism
    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int


def salt_password(mechanism: ScramMechanism, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, iterations)


def make_credential(mechanism: ScramMechanism, salted_password: bytes, salt: bytes, iterations: int) -> ScramCredential:
    client_key = hmac.digest(salted_password, b"Client Key", mechanism.hash_name)
    return ScramCredential(
        mechanism=mechanism,
        salt=salt,
        stored_key=hashlib.new(mechanism.hash_name, client_key).digest(),
        server_key=hmac.digest(salted_password, b"Server Key", mechanism.hash_name),
        iterations=iterations,
    )
