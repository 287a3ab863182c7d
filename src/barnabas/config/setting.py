"""What a setting is: its name, how its text becomes a value, and which values are allowed.

A setting is declared once. Parsing, validation, the description that a broker gives of itself and the reference page
all walk the declarations. A value that is refused is refused by name, with what would be allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

Value = bool | int | float | str | tuple[str, ...] | None

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1


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
    """One of these words; of a list, every member, each at most once and at least one of them."""

    words: tuple[str, ...]

    def refusal(self, value: Value) -> str | None:
        if isinstance(value, tuple):
            if not value or len(set(value)) < len(value) or not set(value) <= set(self.words):
                return f"Value must be a list of some of: {', '.join(self.words)}"
        elif value not in self.words:
            return f"Value must be one of: {', '.join(self.words)}"
        return None

    def __str__(self) -> str:
        return f"[{', '.join(self.words)}]"


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


Allowed = AtLeast | Between | OneOf | ThrottledReplicas


@dataclass(frozen=True, slots=True)
class Synonym:
    """A broker's setting that gives a topic's setting its default, perhaps in a coarser unit."""

    name: str
    factor: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    kind: Kind
    default: Value
    doc: str
    allowed: Allowed | None = None
    synonyms: tuple[Synonym, ...] = ()

    def parse(self, text: str) -> Value:
        """The value that `text` stands for, or a ConfigError that says what is allowed."""
        try:
            value = _READERS[self.kind](text.strip())
        except ValueError as error:
            raise ConfigError(f"Invalid value {text} for configuration {self.name}: {error}") from None
        self.check(value)
        return value

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
        return "" if value is None else str(value)


def parse_settings(declared: Iterable[Setting], given: Mapping[str, str]) -> dict[str, Value]:
    """The value of every declared setting: as given, else its default. A name that is not declared is refused."""
    by_name = {setting.name: setting for setting in declared}
    unknown = sorted(given.keys() - by_name.keys())
    if unknown:
        raise ConfigError(f"Unknown configuration: {', '.join(unknown)}")
    return {name: setting.parse(given[name]) if name in given else setting.default for name, setting in by_name.items()}


def _read_boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.lower() == "true"


def _read_whole(text: str, least: int, most: int, bits: int) -> int:
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"Not a number of {bits} bits") from None
    if not least <= value <= most:
        raise ValueError(f"Not a number of {bits} bits")
    return value


def _read_double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("Not a number") from None


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
