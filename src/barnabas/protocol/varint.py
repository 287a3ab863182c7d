"""Unsigned variable-length integers: seven bits a byte, low ones first, at most five bytes and 32 bits.

The short form is checked inline where speed matters; these functions take every form and refuse what is too long.
"""

from __future__ import annotations

from typing import Final

BYTES_MAX: Final = 5
UINT32_MAX: Final = 0xFFFF_FFFF


def read_unsigned_varint(buffer: memoryview, position: int) -> tuple[int, int]:
    """The value and the position after it; ValueError if it is too long, IndexError if the buffer ends inside it."""
    value = shift = 0
    for index in range(position, position + BYTES_MAX):
        byte = buffer[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > UINT32_MAX:
                break
            return value, index + 1
        shift += 7
    raise ValueError(f"the variable-length integer does not end within {BYTES_MAX} bytes and 32 bits")


def unsigned_varint(value: int) -> bytes:
    if not 0 <= value <= UINT32_MAX:
        raise ValueError(f"{value} does not fit 32 unsigned bits")
    if value < 0x80:
        return bytes((value,))
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
