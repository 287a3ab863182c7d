"""A cluster as a client sees it: the nodes it finds from the bootstrap addresses, and calls to them until one succeeds.

A call is tried again after the errors it names, after a lost connection, and where nobody could be asked, each time
with what the cluster then says of itself, until its time is over. Every other error ends it.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Container, Iterator
from enum import Enum, auto
from types import TracebackType
from typing import Final, Self, TypeVar

from barnabas.client.addresses import Address
from barnabas.client.connection import Connection
from barnabas.client.errors import CallTimeoutError, ClientError, ConnectionLostError, NoNodeError, check_code
from barnabas.client.patience import Deadline, backoff_ms
from barnabas.client.settings import ClientConfig, UnusableConfigError
from barnabas.ports.clock import Clock
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.protocol.schema import Message

CONTROLLER_ENDPOINTS: Final = 2  # What DescribeCluster calls the listeners of controllers.
BROKER_ENDPOINTS: Final = 1

# Said by a node that did nothing, because another one is in charge.
NOT_IN_CHARGE: Final = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_LEADER_OR_FOLLOWER})
ANY_RETRIABLE: Final = frozenset(code for code in ErrorCode if code.is_retriable)
# Said by a node, or of it, when another one may know what the cluster looks like.
_ASK_ANOTHER: Final = ANY_RETRIABLE | {ErrorCode.REBOOTSTRAP_REQUIRED}

R = TypeVar("R", bound=Message)
T = TypeVar("T")


class Target(Enum):
    """Who answers a call; a number instead stands for the node of that id."""

    ANYONE = auto()  # Any broker; where controllers are asked, the active one.
    CONTROLLER = auto()  # The active controller, or the broker that brokers name in its place.


class Cluster:
    """Opens connections as calls need them; `close` ends them all."""

    def __init__(
        self, config: ClientConfig, clock: Clock, rng: Rng, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """Raises UnusableConfigError where no bootstrap address can be resolved."""
        self.asks_controllers = config.asks_controllers
        self._config = config
        self._clock = clock
        self._rng = rng
        self._sleep = sleep
        self._bootstrap = [address for address in config.bootstrap if _is_resolvable(address)]
        if not self._bootstrap:
            raise UnusableConfigError(f"no host can be resolved of {', '.join(map(str, config.bootstrap))}")
        self._connections: dict[Address, Connection] = {}
        self._nodes: dict[int, Address] = {}
        self._controller_id = -1

    def call(
        self,
        name: str,
        build: Callable[[int], Message],
        response: type[R],
        read: Callable[[R], T],
        *,
        to: Target | int = Target.ANYONE,
        retried: Container[ErrorCode] = NOT_IN_CHARGE,
        is_for_brokers: bool = False,
        newest: int | None = None,
    ) -> T:
        """What `read` makes of the response to what `build` makes of the milliseconds that a node may take.

        `read` raises the error that it finds in the response (`check_code`); `retried` are those to try again after.
        What only brokers answer is refused at once where controllers would be asked. `newest` is the last version
        that can say what is asked, where later ones cannot.
        """
        if is_for_brokers and self.asks_controllers:
            raise ClientError(
                ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"{name} is answered by brokers, and controllers are asked here"
            )
        deadline = self.deadline()
        failures = 0
        while True:
            try:
                connection = self._reach(to, deadline)
                asking = deadline.within(self._config.request_timeout_ms)
                return read(connection.request(build(asking.left_ms()), response, asking, newest=newest))
            except ClientError as error:
                is_lost = isinstance(error, ConnectionLostError | NoNodeError)
                if not is_lost and error.code not in retried:
                    raise
                failures += 1
                # What the cluster said of itself led here, so it is asked anew.
                self._controller_id = -1
                self._nodes.clear()
                is_last = failures > self._config.retries
                if not is_last:
                    self.wait(failures, deadline)
                if is_last or deadline.is_over:
                    raise _timeout(name, failures, error) from error

    def deadline(self) -> Deadline:
        """When a call that starts now, with all its tries, is over."""
        return Deadline(self._clock, self._config.api_timeout_ms)

    def wait(self, failures: int, deadline: Deadline) -> None:
        """Let the time pass that is due after so many failures in a row."""
        config = self._config
        wait_ms = backoff_ms(failures, config.retry_backoff_ms, config.retry_backoff_max_ms, self._rng)
        self._sleep(min(wait_ms, deadline.left_ms()) / 1000)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _reach(self, to: Target | int, deadline: Deadline) -> Connection:
        if not self._nodes:
            self._discover(deadline)
        try:
            return self._connect(self._choose(to), deadline)
        except ConnectionLostError as error:
            raise NoNodeError(str(error)) from error

    def _choose(self, to: Target | int) -> Address:
        if to is Target.ANYONE and not self.asks_controllers:
            # A connection that is there already is as good as any.
            addresses = self._shuffled(list(self._nodes.values()))
            return next(filter(self._has_connection, addresses), addresses[0])
        node_id = to if isinstance(to, int) else self._controller_id
        if node_id not in self._nodes:
            raise NoNodeError("no controller is active" if node_id < 0 else f"the cluster names no node {node_id}")
        return self._nodes[node_id]

    def _has_connection(self, address: Address) -> bool:
        connection = self._connections.get(address)
        return connection is not None and not connection.is_closed

    def _connect(self, address: Address, deadline: Deadline) -> Connection:
        if not self._has_connection(address):
            config = self._config
            self._connections[address] = Connection.open(
                address,
                config.client_id,
                connecting=deadline.within(config.connection_timeout_ms),
                asking=deadline.within(config.request_timeout_ms),
            )
        return self._connections[address]

    def _discover(self, deadline: Deadline) -> None:
        """Learn the nodes from the first that can be asked: one that was reached before, else a bootstrap address."""
        lost: ClientError | None = None
        for address in self._to_ask():
            try:
                connection = self._connect(address, deadline)
                asking = deadline.within(self._config.request_timeout_ms)
                self._controller_id, self._nodes = (
                    _ask_controller(connection, asking) if self.asks_controllers else _ask_broker(connection, asking)
                )
            except ClientError as error:
                if error.code not in _ASK_ANOTHER:
                    raise
                lost = error
                continue
            if self._nodes:
                return
        raise NoNodeError(str(lost) if lost is not None else "the cluster names no nodes") from lost

    def _to_ask(self) -> Iterator[Address]:
        known = [address for address in self._connections if self._has_connection(address)]
        yield from known
        yield from (address for address in self._shuffled(self._bootstrap) if address not in known)

    def _shuffled(self, addresses: list[Address]) -> list[Address]:
        """The same, begun anywhere, so that many clients do not all turn to the same node."""
        start = self._rng.randrange(len(addresses))
        return addresses[start:] + addresses[:start]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _ask_broker(connection: Connection, deadline: Deadline) -> tuple[int, dict[int, Address]]:
    answer = connection.request(MetadataRequest(topics=[]), MetadataResponse, deadline)
    check_code(answer.error_code)
    return answer.controller_id, {node.node_id: Address(node.host, node.port) for node in answer.brokers}


def _ask_controller(connection: Connection, deadline: Deadline) -> tuple[int, dict[int, Address]]:
    asked = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=CONTROLLER_ENDPOINTS)
    answer = connection.request(asked, DescribeClusterResponse, deadline)
    check_code(answer.error_code, answer.error_message)
    return answer.controller_id, {node.broker_id: Address(node.host, node.port) for node in answer.brokers}


def _is_resolvable(address: Address) -> bool:
    try:
        return bool(socket.getaddrinfo(address.host or "localhost", address.port, type=socket.SOCK_STREAM))
    except OSError:
        return False


def _timeout(name: str, tries: int, last: ClientError) -> CallTimeoutError:
    if isinstance(last, NoNodeError):
        return CallTimeoutError(f"Timed out waiting for a node assignment. Call: {name}")
    return CallTimeoutError(f"Call {name} timed out after {tries} attempt(s)")
