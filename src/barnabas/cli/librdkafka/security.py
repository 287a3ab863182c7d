"""Security settings of Kafka's Java clients as librdkafka takes them: key stores in PEM or PKCS12, and JAAS entries.

Java's own key store format, JKS, cannot be read here; whoever uses it is told what to turn it into.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.config.setting import ConfigError

_SAME: Final = frozenset(
    {
        "sasl.kerberos.service.name",
        "sasl.mechanism",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
        "security.protocol",
        "ssl.key.password",
    }
)
_RENAMED: Final = {
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
_PEM_ADVICE: Final = "is in Java's own format; turn it into PEM, and set {type}=PEM"
_JAAS_OPTION: Final = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))')


def translate_security(given: Mapping[str, str]) -> tuple[dict[str, str], Callable[[str], bool]]:
    """The settings of librdkafka, and whether a name is one of Java's in this field."""
    settings = {name: value for name, value in given.items() if name in _SAME}
    settings |= {_RENAMED[name]: value for name, value in given.items() if name in _RENAMED}
    settings |= _key_store(given) | _trust_store(given)
    if "ssl.cipher.suites" in given:
        settings["ssl.cipher.suites"] = given["ssl.cipher.suites"].replace(",", ":")
    if "ssl.endpoint.identification.algorithm" in given:
        settings["ssl.endpoint.identification.algorithm"] = given["ssl.endpoint.identification.algorithm"] or "none"
    if "sasl.jaas.config" in given:
        settings |= _credentials(given["sasl.jaas.config"])
    return settings, lambda name: name.startswith(("ssl.", "sasl.", "security."))


def _key_store(given: Mapping[str, str]) -> dict[str, str]:
    place = given.get("ssl.keystore.location")
    if place is None:
        return {}
    kind = _kind(given, "ssl.keystore.type")
    if kind == "PEM":
        return {"ssl.certificate.location": place, "ssl.key.location": place}
    if kind == "PKCS12":
        return {"ssl.keystore.location": place, "ssl.keystore.password": given.get("ssl.keystore.password", "")}
    raise ConfigError(f"ssl.keystore.location: {place} {_PEM_ADVICE.format(type='ssl.keystore.type')}")


def _trust_store(given: Mapping[str, str]) -> dict[str, str]:
    place = given.get("ssl.truststore.location")
    if place is None:
        return {}
    if _kind(given, "ssl.truststore.type") == "PEM":
        return {"ssl.ca.location": place}
    raise ConfigError(f"ssl.truststore.location: {place} {_PEM_ADVICE.format(type='ssl.truststore.type')}")


def _kind(given: Mapping[str, str], name: str) -> str:
    return given.get(name, "JKS").upper()


def _credentials(jaas: str) -> dict[str, str]:
    """The user and the password in an entry such as `...PlainLoginModule required username="u" password="p";`."""
    options = {
        name: quoted.replace("\\", "") if quoted else plain for name, quoted, plain in _JAAS_OPTION.findall(jaas)
    }
    if "username" not in options or "password" not in options:
        raise ConfigError("sasl.jaas.config: only a login module with a username and a password can be used here")
    return {"sasl.username": options["username"], "sasl.password": options["password"]}
