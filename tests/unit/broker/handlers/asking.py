"""Handlers beside those that every hosted broker of the tests has."""

from __future__ import annotations

from typing import Protocol

from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.handlers.produce import Produce
from barnabas.broker.routing import Route, build_table
from unit.broker.hosting import Hosting


class Family(Protocol):
    @property
    def routes(self) -> tuple[Route, ...]: ...


def serve(hosting: Hosting, *families: Family) -> Hosting:
    """Let these answer, and Produce, by which a test fills logs."""
    produce = Produce(hosting.replicas, hosting._run_off_loop)
    hosting.dispatcher = Dispatcher(build_table(produce.routes, *(family.routes for family in families)))
    return hosting
