"""Apache Kafka as the referee: brings its jars, compiles our small Java programs against them and runs them.

Everything fetched or compiled lives in a cache folder outside the checkout; it is made once, also by two runs
that race. Every process started here is ended by its id, also when the test that started it fails.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self

KAFKA_VERSION = "4.3.1"
HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "java"
INSTALL_ADVICE = "on Debian or Ubuntu: apt-get install default-jdk-headless maven; on macOS: brew install openjdk maven"

# A test broker and every tool fit in this heap.
JVM_OPTIONS = ("-Xmx512m", "-Dfile.encoding=UTF-8", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
# What most programs here want: they end before a better collector or compiler would pay.
QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class RefereeUnavailableError(RuntimeError):
    """Java, Maven or the registry is missing; the text says which, and what to type."""


class ProgramError(RuntimeError):
    """A program ended in a way it should not have; the text carries what it wrote."""


def cache_folder() -> Path:
    chosen = os.environ.get("BARNABAS_CACHE")
    if chosen:
        return Path(chosen) / "barnabas" / "referee"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "barnabas" / "referee"


@contextmanager
def cache_lock() -> Iterator[None]:
    """Held while something is added to the cache, so that a second run waits and then finds it there."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def jars() -> Path:
    """The folder of Apache Kafka's jars, fetched by Maven the first time."""
    libs = cache_folder() / "libs"
    if jars_are_there(libs):
        return libs
    with cache_lock():
        if not jars_are_there(libs):
            _fetch_jars(libs)
    return libs


def jars_are_there(libs: Path) -> bool:
    # The folder is renamed into place whole, so one jar of the right version stands for all.
    return (libs / f"kafka_2.13-{KAFKA_VERSION}.jar").exists()


def _fetch_jars(libs: Path) -> None:
    maven = _program("mvn", "Apache Kafka's jars are not in the cache, and Maven, which fetches them, is missing")
    _program("java", "Maven needs Java 17 or newer, which is not installed")
    copy = ["dependency:copy-dependencies", "-f", str(HERE / "pom.xml")]
    arriving = Path(tempfile.mkdtemp(prefix="libs-", dir=libs.parent))
    try:
        fetched = subprocess.run(
            [maven, "-q", "-B", *copy, f"-DoutputDirectory={arriving}"], capture_output=True, text=True
        )
        if fetched.returncode != 0 or not jars_are_there(arriving):
            raise RefereeUnavailableError(
                f"Maven could not fetch Apache Kafka {KAFKA_VERSION}; it needs a registry to reach.\n"
                f"{fetched.stdout}{fetched.stderr}"
            )
        if libs.exists():
            shutil.rmtree(libs)
        arriving.chmod(0o755)
        arriving.rename(libs)
    finally:
        shutil.rmtree(arriving, ignore_errors=True)


def _program(name: str, lack: str) -> str:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / name).exists():
        return str(Path(home) / "bin" / name)
    found = shutil.which(name)
    if found is None:
        raise RefereeUnavailableError(f"{lack} ({INSTALL_ADVICE})")
    return found


def compiled(source: Path) -> Path:
    """The folder of the class files of a single-file Java program, compiled when its text has changed."""
    libs = jars()
    key = hashlib.sha256(KAFKA_VERSION.encode() + source.read_bytes()).hexdigest()[:16]
    classes = cache_folder() / "classes" / f"{source.stem}-{key}"
    if classes.exists():
        return classes
    javac = _program("javac", "The Java compiler (javac, version 17 or newer) is not installed")
    with cache_lock():
        if classes.exists():
            return classes
        classes.parent.mkdir(exist_ok=True)
        arriving = Path(tempfile.mkdtemp(prefix="arriving-", dir=classes.parent))
        built = subprocess.run(
            [javac, "-nowarn", "-proc:none", "-cp", f"{libs}/*", "-d", str(arriving), str(source)],
            capture_output=True,
            text=True,
        )
        if built.returncode != 0:
            shutil.rmtree(arriving)
            raise ProgramError(f"{source.name} does not compile:\n{built.stderr}")
        arriving.rename(classes)
    return classes


def java_command(main: str | Path, *args: str | Path, options: Sequence[str] = QUICK_START) -> list[str]:
    """The command that runs a class of Apache Kafka's by its name or a program of ours by its source file."""
    java = _program("java", "Java 17 or newer is not installed")
    classpath = f"{jars()}/*"
    if isinstance(main, Path):
        classpath = f"{compiled(main)}{os.pathsep}{classpath}"
        main = main.stem
    return [java, *JVM_OPTIONS, *options, "-cp", classpath, main, *map(str, args)]


def run_java(
    main: str | Path,
    *args: str | Path,
    options: Sequence[str] = QUICK_START,
    stdin: str | None = None,
    limit_s: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run to the end and give back its output. An exit status other than zero raises ProgramError."""
    command = java_command(main, *args, options=options)
    done = subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", timeout=limit_s)
    if done.returncode != 0:
        raise ProgramError(f"{main} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


class LineProcess:
    """A program that stays up and answers each line it is given with one line.

    The lines of a batch are sent from a thread while the answers are read, so neither pipe fills up. After
    `limit_s` the process is killed: a program that hangs ends the test instead of holding it.
    """

    def __init__(self, name: str, command: Sequence[str], *, limit_s: float = 600) -> None:
        self._name = name
        # A file, not a pipe: nobody reads it while the program runs.
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 -- closed with the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, encoding="utf-8"
        )
        self._limit_s = limit_s

    def ask(self, line: str) -> str:
        return next(self.exchange([line]))

    def exchange(self, lines: Iterable[str]) -> Iterator[str]:
        """The answers to `lines`, one for each, in their order; a program that takes too long for them is ended."""
        watchdog = threading.Timer(self._limit_s, self._process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            yield from self._exchange(lines)
        finally:
            watchdog.cancel()

    def _exchange(self, lines: Iterable[str]) -> Iterator[str]:
        sent: queue.SimpleQueue[bool] = queue.SimpleQueue()
        stdin, stdout = self._stdin, self._stdout

        def send() -> None:
            try:
                for line in lines:
                    stdin.write(line + "\n")
                    sent.put(True)
                stdin.flush()
            except (BrokenPipeError, ValueError):
                pass  # The reader finds the end of the output and says why.
            finally:
                sent.put(False)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        while sent.get():
            answer = stdout.readline()
            if not answer:
                raise ProgramError(f"{self._name} stopped answering:\n{self._end()}")
            yield answer.rstrip("\n")
        sender.join()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def close(self) -> None:
        """End the program by the end of its input, or by force where it does not listen."""
        self._end()
        self._errors.close()

    def _end(self) -> str:
        with suppress(BrokenPipeError):
            self._stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()
        self._errors.seek(0)
        return f"status {self._process.returncode}\n{self._errors.read()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class JvmProcess(LineProcess):
    """A Java program that answers lines."""

    def __init__(
        self, main: str | Path, *args: str | Path, options: Sequence[str] = QUICK_START, limit_s: float = 600
    ) -> None:
        super().__init__(str(main), java_command(main, *args, options=options), limit_s=limit_s)


class ToolOutput(NamedTuple):
    status: int
    out: str
    err: str


class Tools:
    """Apache Kafka's command line tools, all run in one JVM, so that a call costs milliseconds."""

    def __init__(self) -> None:
        self._jvm = JvmProcess(PROGRAMS / "Tools.java")

    def run(self, main: str, *args: str | Path) -> ToolOutput:
        return ToolOutput(**json.loads(self._jvm.ask(json.dumps([main, *map(str, args)]))))

    def dump_log(self, *args: str | Path) -> ToolOutput:
        return self.run("org.apache.kafka.tools.DumpLogSegments", *args)

    def close(self) -> None:
        self._jvm.close()


def main() -> int:
    """Bring the jars and say where they are: what `script/referee` runs."""
    try:
        libs = jars()
    except RefereeUnavailableError as lack:
        sys.stderr.write(f"{lack}\n")
        return 1
    sys.stdout.write(f"{libs}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
