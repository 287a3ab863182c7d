"""kafka-python's own integration tests, as its source distribution has them, pass on our broker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

from interop.clients.programs import HERE, bring, made_once
from interop.our_broker import OurBroker
from interop.referee import KAFKA_VERSION

pytestmark = pytest.mark.clients

LIMIT_S = 300
# Transactions, and an authorizer, are what this broker does not have.
LEFT_OUT = "not transactional and not acls"
# What the tests' own brokers are set to.
SETTINGS = {"num.partitions": "4", "group.min.session.timeout.ms": "500"}


def bring_tests(folder: Path) -> None:
    name = "kafka-python"
    wanted = f"{name}=={version(name)}"
    bring([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, wanted], folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    shutil.move(unpacked / "test", folder / "test")
    shutil.rmtree(unpacked)
    # Without the first, Python's own package of this name would be found.
    (folder / "test" / "__init__.py").touch()
    shutil.copy(folder / "service.py", folder / "test" / "service.py")
    (folder / "servers" / KAFKA_VERSION / "kafka-bin").mkdir(parents=True)


def test_kafka_pythons_own_tests_pass(tmp_path: Path) -> None:
    home = made_once(HERE / "kafka_python_tests", bring_tests)
    files = [f"test/integration/test_{part}_integration.py" for part in ("admin", "consumer", "producer")]
    with OurBroker(tmp_path, SETTINGS) as broker:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--rootdir=.", "-p", "no:cacheprovider", "-k", LEFT_OUT, *files],
            cwd=home,
            env=os.environ | {"KAFKA_VERSION": KAFKA_VERSION, "KAFKA_URI": f"kafka://{broker.bootstrap_servers}"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    assert done.returncode == 0, done.stdout
    # Without a broker to speak to they would all be skipped.
    assert " passed" in done.stdout
