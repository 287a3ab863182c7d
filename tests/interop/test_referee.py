"""The referee brings itself once, also to runs that race, and says what is missing where it cannot come."""

from __future__ import annotations

import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from interop import referee

# Stands in for Maven: notes that it was called and leaves the jar that counts.
MAVEN = f"""#!/bin/sh
echo called >> "$BARNABAS_CACHE/calls"
for word in "$@"; do
    case $word in -DoutputDirectory=*) target=${{word#*=}} ;; esac
done
echo jar > "$target/kafka_2.13-{referee.KAFKA_VERSION}.jar"
"""


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a folder that is the whole PATH but for the shell's own commands."""
    commands = tmp_path / "bin"
    commands.mkdir()
    monkeypatch.setenv("BARNABAS_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(commands))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return commands


def install(commands: Path, name: str, script: str) -> None:
    command = commands / name
    command.write_text(script)
    command.chmod(command.stat().st_mode | stat.S_IXUSR)


def test_a_machine_without_maven_is_told_what_to_install(bare_machine: Path) -> None:
    assert not list(bare_machine.iterdir())
    with pytest.raises(referee.RefereeUnavailableError, match=r"Maven.*apt-get install .*maven"):
        referee.jars()


def test_a_failed_fetch_leaves_nothing_behind_and_says_what_maven_said(bare_machine: Path) -> None:
    install(bare_machine, "java", "#!/bin/sh\n")
    install(bare_machine, "mvn", "#!/bin/sh\necho no registry; exit 1\n")
    with pytest.raises(referee.RefereeUnavailableError, match="no registry"):
        referee.jars()
    assert [path.name for path in referee.cache_folder().iterdir()] == ["lock"]


def test_runs_that_race_fetch_the_jars_once(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(bare_machine, "java", "#!/bin/sh\n")
    install(bare_machine, "mvn", MAVEN)
    all_have_looked = threading.Barrier(4)
    jars_are_there = referee.jars_are_there

    def look_together(libs: Path) -> bool:
        found = jars_are_there(libs)
        if not found and libs.name == "libs":
            with suppress(threading.BrokenBarrierError):
                all_have_looked.wait(10)
            all_have_looked.abort()
        return found

    monkeypatch.setattr(referee, "jars_are_there", look_together)
    with ThreadPoolExecutor(4) as runs:
        found = set(runs.map(lambda _: referee.jars(), range(4)))
    assert found == {referee.cache_folder() / "libs"}
    assert (tmp_path / "calls").read_text() == "called\n"
