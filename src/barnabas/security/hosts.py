"""The address of a client as access control entries write it, which is how Java does."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


def host_text(address: str | bytes) -> str:
    """An address in text or in bytes; IPv6 without `::`, and what is IPv4 in truth as that."""
    try:
        parsed = ip_address(address.partition("%")[0] if isinstance(address, str) else address)
    except ValueError:
        return address if isinstance(address, str) else address.hex()
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return ":".join(f"{int(group, 16):x}" for group in parsed.exploded.split(":"))
