"""Finds the class of a declared message by its number, and imports its file only when it is asked for.

A node uses a few dozen of Kafka's messages at start; importing all of them would take most of that time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from barnabas.protocol.schema import Message


class Catalogue(Mapping[int, type[Message]]):
    """The classes of one package by number.

    `entries` names for each number the file and the class; `ending` completes the names of classes where one file
    holds two halves, such as a request and its response.
    """

    def __init__(self, package: str, entries: Mapping[int, tuple[str, str]], ending: str = "") -> None:
        self._package = package
        self._entries = entries
        self._ending = ending
        self._classes: dict[int, type[Message]] = {}

    def __getitem__(self, number: int) -> type[Message]:
        known = self._classes.get(number)
        return known if known is not None else self._load(number)

    def __iter__(self) -> Iterator[int]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, number: object) -> bool:
        return number in self._entries

    def _load(self, number: int) -> type[Message]:
        file, name = self._entries[number]
        found: type[Message] = getattr(import_module(f"{self._package}.{file}"), name + self._ending)
        self._classes[number] = found
        return found
