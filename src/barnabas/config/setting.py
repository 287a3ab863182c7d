"""What a setting is: its name, how its text becomes a value, and which values are allowed.

A setting is declared once. Parsing, validation, the description that a broker gives of itself and the reference page
all walk the declarations. A value that is refused is refused by name, with what would be allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

Value = bool | int | float | str | tuple[str, ...] | None

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
DOUBLE_MAX = 1.7976931348623157e308

HIDDEN = "[hidden]"  # What is shown of a value that is a secret.
_WHOLE = re.compile(r"[+-]?[0-9]+")


class ConfigError(ValueError):
    """A setting was given a value that it does not take. Its text is meant for the person who set it."""


class Kind(Enum):
    """The types of settings, by the numbers that DescribeConfigs gives them."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Reload(Enum):
    """When a change of a node's setting takes effect, by the words of Kafka's documentation."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


@dataclass(frozen=True, slots=True)
class AtLeast:
    least: float

    def refusal(self, value: Value) -> str | None:
        is_allowed = isinstance(value, int | float) and value >= self.least
        return None if is_allowed else f"Value must be at least {self.least}"

    def __str__(self) -> str:
        return f"[{self.least},...]"


@dataclass(frozen=True, slots=True)
class Between:
    least: float
    most: float
    or_else: int | None = None

    def refusal(self, value: Value) -> str | None:
        is_allowed = isinstance(value, int | float) and (self.least <= value <= self.most or value == self.or_else)
        return None if is_allowed else f"Value must be in {self}"

    def __str__(self) -> str:
        span = f"[{self.least},...,{self.most}]"
        return span if self.or_else is None else f"{span} or {self.or_else}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these words; of a list, every member, each at most once. An empty list may be one, too."""

    words: tuple[str, ...]
    is_empty_allowed: bool = True

    def refusal(self, value: Value) -> str | None:
        if isinstance(value, tuple):
            if not value and not self.is_empty_allowed:
                return f"Value must not be empty: it is a list of some of: {', '.join(self.words)}"
            if len(set(value)) < len(value) or not set(value) <= set(self.words):
                return f"Value must be a list of some of: {', '.join(self.words)}"
        elif value not in self.words:
            return f"Value must be one of: {', '.join(self.words)}"
        return None

    def __str__(self) -> str:
        return f"[{', '.join(self.words)}]"


@dataclass(frozen=True, slots=True)
class OneOfAnyCase:
    """One of these words, in capitals or not."""

    words: tuple[str, ...]

    def refusal(self, value: Value) -> str | None:
        is_allowed = isinstance(value, str) and value.upper() in self.words
        return None if is_allowed else f"Value must be one of (in any case): {', '.join(self.words)}"

    def __str__(self) -> str:
        return f"(case insensitive) [{', '.join(self.words)}]"


@dataclass(frozen=True, slots=True)
class Distinct:
    """A list of any words, none of them empty and none twice."""

    is_empty_allowed: bool = True

    def refusal(self, value: Value) -> str | None:
        members = value if isinstance(value, tuple) else ()
        if not members and not self.is_empty_allowed:
            return "Value must not be empty"
        if "" in members or len(set(members)) < len(members):
            return "Value must be a list without empty and without repeated members"
        return None

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class NonEmpty:
    def refusal(self, value: Value) -> str | None:
        return None if value else "Value must not be empty"

    def __str__(self) -> str:
        return "non-empty string"


@dataclass(frozen=True, slots=True)
class ThrottledReplicas:
    """The replicas that a quota holds back: `*` for all, `none`, or pairs of partition and broker."""

    def refusal(self, value: Value) -> str | None:
        members = value if isinstance(value, tuple) else ()
        if members in ((), ("*",), ("none",)) or all(self._is_pair(member) for member in members):
            return None
        return f"Value must be '*', 'none', or {self}"

    @staticmethod
    def _is_pair(member: str) -> bool:
        partition, separator, broker = member.partition(":")
        return bool(separator) and partition.isdecimal() and broker.isdecimal()

    def __str__(self) -> str:
        return "[partitionId]:[brokerId],[partitionId]:[brokerId],..."


Allowed = AtLeast | Between | OneOf | OneOfAnyCase | Distinct | NonEmpty | ThrottledReplicas


@dataclass(frozen=True, slots=True)
class Synonym:
    """A broker's setting that gives another one its value where that has none, perhaps in a coarser unit."""

    name: str
    factor: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting; a default of None stands for no value, which only a required setting may not be left with."""

    name: str
    kind: Kind
    default: Value
    doc: str
    allowed: Allowed | None = None
    synonyms: tuple[Synonym, ...] = ()
    reload: Reload = Reload.READ_ONLY
    is_required: bool = False
    is_internal: bool = False

    @property
    def is_sensitive(self) -> bool:
        return self.kind is Kind.PASSWORD

    def parse(self, text: str) -> Value:
        """The value that `text` stands for, or a ConfigError that says what is allowed."""
        try:
            value = _READERS[self.kind](text.strip())
        except ValueError as error:
            raise ConfigError(f"Invalid value {text} for configuration {self.name}: {error}") from None
        self.check(value)
        return value

    def value_in(self, given: Mapping[str, str]) -> Value:
        """The value that a file of settings gives this one, which may be its default."""
        if self.name in given:
            return self.parse(given[self.name])
        if self.is_required:
            raise ConfigError(f'Missing required configuration "{self.name}" which has no default value.')
        return self.default

    def check(self, value: Value) -> None:
        refusal = self.allowed.refusal(value) if self.allowed else None
        if refusal is not None:
            raise ConfigError(f"Invalid value {self.format(value)} for configuration {self.name}: {refusal}")

    @staticmethod
    def format(value: Value) -> str:
        """A value as it stands in a properties file."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(value)
        if isinstance(value, float):
            return _format_double(value)
        return "" if value is None else str(value)

    def shown(self, value: Value) -> str:
        """A value as it may stand in a log or an answer: like `format`, but a secret stays one."""
        return HIDDEN if self.is_sensitive and value is not None else self.format(value)


def parse_settings(declared: Iterable[Setting], given: Mapping[str, str]) -> dict[str, Value]:
    """The value of every declared setting: as given, else its default. A name that is not declared is refused."""
    by_name = {setting.name: setting for setting in declared}
    unknown = sorted(given.keys() - by_name.keys())
    if unknown:
        raise ConfigError(f"Unknown configuration: {', '.join(unknown)}")
    return {name: setting.value_in(given) for name, setting in by_name.items()}


def _read_boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.lower() == "true"


def _read_whole(text: str, least: int, most: int, bits: int) -> int:
    if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
        raise ValueError(f"Not a number of {bits} bits")
    return int(text)


def _read_double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("Not a number") from None


def _format_double(value: float) -> str:
    """As Java prints it, which leaves plain digits earlier than Python does."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def _read_list(text: str) -> tuple[str, ...]:
    return tuple(member.strip() for member in text.split(",")) if text else ()


_READERS: dict[Kind, Callable[[str], Value]] = {
    Kind.BOOLEAN: _read_boolean,
    Kind.STRING: str,
    Kind.CLASS: str,
    Kind.PASSWORD: str,
    Kind.SHORT: lambda text: _read_whole(text, -(2**15), 2**15 - 1, 16),
    Kind.INT: lambda text: _read_whole(text, INT_MIN, INT_MAX, 32),
    Kind.LONG: lambda text: _read_whole(text, LONG_MIN, LONG_MAX, 64),
    Kind.DOUBLE: _read_double,
    Kind.LIST: _read_list,
}
