"""Clients in other languages: small programs that answer a line of JSON with a line of JSON.

What they need comes by their own package managers, from the manifests beside them, into the referee's cache outside the
checkout; it is brought once, also by two runs that race. Where a language is missing the test fails and says what to
install.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from interop.clients.client import ClientError, Record
from interop.referee import LineProcess, ProgramError, RefereeUnavailableError, cache_folder, cache_lock, java_command

HERE = Path(__file__).resolve().parent


class ProgramClient:
    """A client that is a program of its own, run by this command with the bootstrap servers behind it."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._process = LineProcess(name, command)

    def _do(self, command: str, **arguments: object) -> Any:
        answer = json.loads(self._process.ask(json.dumps({"do": command, **arguments})))
        if "error" in answer:
            raise ClientError(answer["error"])
        return answer["answer"]

    def create_topic(self, topic: str, partitions: int) -> None:
        self._do("create", topic=topic, partitions=partitions)

    def delete_topic(self, topic: str) -> None:
        self._do("delete", topic=topic)

    def write(
        self, topic: str, partition: int, records: Sequence[Record], *, codec: str = "none", is_idempotent: bool = False
    ) -> list[int]:
        offsets: list[int] = self._do(
            "write",
            topic=topic,
            partition=partition,
            codec=codec,
            idempotent=is_idempotent,
            records=[_to_json(record) for record in records],
        )
        return offsets

    def read(
        self, topic: str, partitions: Sequence[int], count: int, *, offset: int = 0, is_committed: bool = False
    ) -> Mapping[int, list[Record]]:
        answer = self._do(
            "read", topic=topic, partitions=list(partitions), offset=offset, count=count, committed=is_committed
        )
        found: dict[int, list[Record]] = {partition: [] for partition in partitions}
        for each in answer:
            found[each["partition"]].append(_from_json(each))
        return found

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        found: int = self._do("offset_at", topic=topic, partition=partition, timestamp=timestamp_ms)
        return found

    def close(self) -> None:
        self._process.close()


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _to_json(record: Record) -> dict[str, object]:
    return {
        "key": _encoded(record.key),
        "value": _encoded(record.value),
        "timestamp": record.timestamp_ms,
        "headers": [[name, _encoded(value)] for name, value in record.headers],
    }


def _from_json(found: Mapping[str, Any]) -> Record:
    headers = tuple((name, _decoded(value)) for name, value in found["headers"])
    return Record(_decoded(found["key"]), _decoded(found["value"]), found["timestamp"], headers)


def java_client(bootstrap_servers: str) -> ProgramClient:
    return ProgramClient("Apache's Java client", java_command(HERE / "java" / "Client.java", bootstrap_servers))


def kafkajs(bootstrap_servers: str) -> ProgramClient:
    node = installed("node", "nodejs")
    npm = installed("npm", "npm")

    def install(folder: Path) -> None:
        bring([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)

    home = made_once(HERE / "node", install)
    return ProgramClient("kafkajs", [node, str(home / "client.js"), bootstrap_servers])


def franz_go(bootstrap_servers: str) -> ProgramClient:
    go = installed("go", "golang")

    def build(folder: Path) -> None:
        bring([go, "build", "-o", "client", "."], folder)

    home = made_once(HERE / "go", build)
    return ProgramClient("franz-go", [str(home / "client"), bootstrap_servers])


def kcat() -> tuple[str, Mapping[str, str]]:
    """The program and the environment to run it in: the installed one, or Debian's packages, unpacked in the cache."""
    found = shutil.which("kcat")
    if found is not None:
        return found, {}
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        installed("kcat", "kcat")

    def unpack(folder: Path) -> None:
        download = ["apt-get", "download", *(folder / "packages.txt").read_text().split()]
        try:
            bring(download, folder)
        except ProgramError:  # A machine that was just set up does not know of any package.
            bring(["apt-get", "update"], folder)
            bring(download, folder)
        for package in folder.glob("*.deb"):
            bring(["dpkg", "-x", package.name, "."], folder)

    home = made_once(HERE / "kcat", unpack)
    libraries = {str(path.parent) for path in home.rglob("lib*.so.*")}
    return str(home / "usr" / "bin" / "kcat"), {"LD_LIBRARY_PATH": ":".join(sorted(libraries))}


def installed(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RefereeUnavailableError(
            f"{program} is not installed (on Debian or Ubuntu: apt-get install {package}; on macOS: brew install "
            f"{package}). To leave out the clients that need it: script/test interop -m 'not clients'"
        )
    return found


def bring(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run something that may fetch packages, in a folder."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, **(environment or {})}
    )
    if done.returncode != 0:
        raise ProgramError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")


def made_once(source: Path, make: Callable[[Path], None]) -> Path:
    """A copy of a folder in the cache, where `make` has been at work; made anew when a file of it has changed."""
    files = sorted(path for path in source.iterdir() if path.is_file())
    key = hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()[:16]
    home = cache_folder() / "clients" / f"{source.name}-{key}"
    if not home.exists():
        with cache_lock():
            if not home.exists():
                home.parent.mkdir(exist_ok=True)
                arriving = Path(tempfile.mkdtemp(prefix="arriving-", dir=home.parent))
                try:
                    for path in files:
                        shutil.copy(path, arriving)
                    make(arriving)
                    arriving.rename(home)
                finally:
                    shutil.rmtree(arriving, ignore_errors=True)
    return home
