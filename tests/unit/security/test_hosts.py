"""Addresses read as Java writes them, for that is what access control entries were made with."""

from __future__ import annotations

import pytest

from barnabas.security.hosts import host_text


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", "127.0.0.1"),
        (bytes([10, 0, 0, 1]), "10.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("fe80::abcd:1%eth0", "fe80:0:0:0:0:0:abcd:1"),
        (bytes(15) + b"\1", "0:0:0:0:0:0:0:1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        (bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 1]), "10.0.0.1"),
        ("", ""),
    ],
)
def test_an_address_has_one_text(address: str | bytes, expected: str) -> None:
    assert host_text(address) == expected
