"""The text of keys, values and headers, by the names of Kafka's Java deserializers."""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.cli.dump.java_text import boolean

# Turns the bytes of a key, a value or a header into those that are printed; ValueError where it cannot.
Deserializer = Callable[[bytes], bytes]

_PACKAGE: Final = "org.apache.kafka.common.serialization."


class DeserializationError(ValueError):
    """Bytes that are not what the deserializer reads; says what Java's says."""


def _number(name: str, form: str) -> Deserializer:
    layout = struct.Struct(form)

    def deserialize(data: bytes) -> bytes:
        if len(data) != layout.size:
            raise DeserializationError(f"Size of data received by {name} is not {layout.size}")
        (value,) = layout.unpack(data)
        return (_decimal(value, layout) if isinstance(value, float) else str(value)).encode()

    return deserialize


def _decimal(value: float, layout: struct.Struct) -> str:
    """A number as Java prints it: plain from a thousandth to below ten millions, else with an exponent."""
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    # The fewest digits that mean the same number in as many bits.
    forms = (f"{abs(value):.{places}e}" for places in range(18))
    shortest = next(form for form in forms if layout.pack(float(form)) == layout.pack(abs(value)))
    mantissa, _, power = shortest.partition("e")
    digits, exponent = mantissa.replace(".", "").rstrip("0") or "0", int(power)
    if exponent < -3 or exponent > 6:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{sign}{digits[: exponent + 1].ljust(exponent + 1, '0')}.{digits[exponent + 1 :] or '0'}"


def _boolean(data: bytes) -> bytes:
    if len(data) != 1:
        raise DeserializationError("Size of data received by BooleanDeserializer is not 1")
    (value,) = struct.unpack("b", data)
    if value not in (0, 1):
        raise DeserializationError(f"Unexpected byte received by BooleanDeserializer: {value}")
    return boolean(value == 1).encode()


def _uuid(data: bytes) -> bytes:
    try:
        return str(uuid.UUID(data.decode())).encode()
    except ValueError:
        raise DeserializationError("Error parsing data into UUID") from None


def _escaped(data: bytes) -> bytes:
    """Bytes as Kafka's class of that name prints them: what is not printable ASCII by its number."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02X}" for byte in data).encode()


def _as_it_is(data: bytes) -> bytes:
    return data


def _text(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


DESERIALIZERS: Final[Mapping[str, Deserializer]] = {
    _PACKAGE + name: deserialize
    for name, deserialize in {
        "BooleanDeserializer": _boolean,
        "ByteArrayDeserializer": _as_it_is,
        "ByteBufferDeserializer": _as_it_is,
        "BytesDeserializer": _escaped,
        "DoubleDeserializer": _number("DoubleDeserializer", ">d"),
        "FloatDeserializer": _number("FloatDeserializer", ">f"),
        "IntegerDeserializer": _number("IntegerDeserializer", ">i"),
        "LongDeserializer": _number("LongDeserializer", ">q"),
        "ShortDeserializer": _number("ShortDeserializer", ">h"),
        "StringDeserializer": _text,
        "UUIDDeserializer": _uuid,
    }.items()
}
