"""Credentials are those of RFC 5802 and RFC 7677."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode

import pytest

from barnabas.security.scram import ScramMechanism, make_credential, salt_password


def test_the_example_of_rfc_7677_is_reproduced() -> None:
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    mechanism = ScramMechanism.SCRAM_SHA_256
    credential = make_credential(mechanism, salt_password(mechanism, "pencil", salt, 4096), salt, 4096)
    exchange = (
        b"n=user,r=rOprNGfwEbeRWgbNEkqO,"
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    )
    proof = b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    signature = hmac.digest(credential.stored_key, exchange, "sha256")
    client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    assert hashlib.sha256(client_key).digest() == credential.stored_key
    server_signature = hmac.digest(credential.server_key, exchange, "sha256")
    assert server_signature == b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    ("mechanism", "size"), [(ScramMechanism.SCRAM_SHA_256, 32), (ScramMechanism.SCRAM_SHA_512, 64)]
)
def test_keys_are_as_long_as_the_hash(mechanism: ScramMechanism, size: int) -> None:
    credential = make_credential(mechanism, salt_password(mechanism, "x", b"salt", 1), b"salt", 1)
    assert len(credential.stored_key) == len(credential.server_key) == size


def test_keys_do_not_show() -> None:
    credential = make_credential(ScramMechanism.SCRAM_SHA_256, b"salted", b"salt", 4096)
    assert repr(credential.stored_key) not in repr(credential)
