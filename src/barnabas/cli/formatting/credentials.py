"""The `--add-scram` option: `MECHANISM=[name=...,password=...]` becomes the record of a credential."""

from __future__ import annotations

import base64
import binascii
import re
import secrets

from barnabas.cli.formatting.errors import FormatError
from barnabas.protocol.metadata_records.user_scram_credential import UserScramCredentialRecord
from barnabas.security.scram import ITERATIONS_MAX, ITERATIONS_MIN, ScramMechanism, make_credential, salt_password

_SALT_BYTES = 24
_NUMBER = re.compile(r"[+-]?[0-9]+")


def parse_credential(argument: str) -> UserScramCredentialRecord:
    mechanism, parts = _parse_parts(argument.strip())
    name = parts.pop("name", None)
    if name is None:
        raise FormatError("You must supply 'name' to add-scram")
    salt = _decoded(parts.pop("salt", None), "salt")
    iterations = _parse_iterations(parts.pop("iterations", None))
    password = parts.pop("password", None)
    salted_password = _decoded(parts.pop("saltedpassword", None), "saltedPassword")
    if password is None and salted_password is None:
        raise FormatError("You must supply one of 'password' or 'saltedpassword' to add-scram")
    if password is None and salt is None:
        raise FormatError("You must supply 'salt' with 'saltedpassword' to add-scram")
    if parts:
        raise FormatError(f"Unknown SCRAM configurations: {', '.join(sorted(parts))}")
    if iterations < ITERATIONS_MIN:
        raise FormatError(f"The 'iterations' value must be >= {ITERATIONS_MIN} for add-scram using {mechanism.name}")
    if iterations > ITERATIONS_MAX:
        raise FormatError(f"The 'iterations' value must be <= {ITERATIONS_MAX} for add-scram using {mechanism.name}")
    salt = secrets.token_bytes(_SALT_BYTES) if salt is None else salt
    if password is not None:
        salted_password = salt_password(mechanism, password, salt, iterations)
    assert salted_password is not None
    credential = make_credential(mechanism, salted_password, salt, iterations)
    return UserScramCredentialRecord(
        name=name,
        mechanism=mechanism.number,
        salt=credential.salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=credential.iterations,
    )


def _parse_parts(argument: str) -> tuple[ScramMechanism, dict[str, str]]:
    name, equals, text = argument.partition("=")
    if not equals:
        raise FormatError(f"Failed to find equals sign in SCRAM argument '{argument}'")
    try:
        mechanism = ScramMechanism(name)
    except ValueError:
        raise FormatError(f"The add-scram mechanism {name} is not supported.") from None
    if not text.startswith("["):
        raise FormatError("Expected configuration string to start with [")
    if not text.endswith("]"):
        raise FormatError("Expected configuration string to end with ]")
    parts = {}
    for part in text[1:-1].split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise FormatError(f"No equals sign found in SCRAM component: {part}")
        is_quoted = len(value) >= 2 and value[0] == value[-1] == '"'
        parts[key] = value[1:-1] if is_quoted else value
    return mechanism, parts


def _decoded(text: str | None, what: str) -> bytes | None:
    if text is None:
        return None
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise FormatError(f"Failed to decode given {what}: {text}") from None


def _parse_iterations(text: str | None) -> int:
    if text is None:
        return ITERATIONS_MIN
    if not _NUMBER.fullmatch(text):
        raise FormatError(f"Failed to parse iterations count: {text}")
    return int(text)
