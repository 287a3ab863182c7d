"""The tables of APIs and error codes, and the generated declarations, are what Apache Kafka's jars say."""

from __future__ import annotations

import pytest

from barnabas.protocol.api import APIS
from barnabas.protocol.errors import ErrorCode
from barnabas.protocol.framing import request_header_version, response_header_version
from interop.referee import PROGRAMS, jars, run_java
from tools.generate_messages import PACKAGES, PROTOCOL, generate

pytestmark = pytest.mark.referee


def facts(subject: str) -> list[list[str]]:
    return [line.split("\t") for line in run_java(PROGRAMS / "Facts.java", subject).stdout.splitlines()]


def test_the_apis_have_kafkas_numbers_names_versions_listeners_and_headers() -> None:
    ours = []
    for api in APIS.values():
        headers = [
            f"{request_header_version(api.request, version)}/{response_header_version(api.response, version)}"
            for version in api.versions
        ]
        numbers = [api.key, api.key.name, api.name, api.versions[0], api.versions[-1], api.stable_versions[-1]]
        ours.append([*map(str, numbers), " ".join(sorted(api.listeners)), " ".join(headers)])
    assert ours == facts("apis")
    assert len(ours) == 89


def test_the_error_codes_have_kafkas_numbers_names_and_retriable_flags() -> None:
    ours = [[str(int(code)), code.name, str(code.is_retriable).lower()] for code in ErrorCode]
    assert ours == facts("errors")


def test_the_declarations_in_the_tree_are_what_the_generator_writes() -> None:
    generated = generate(jars())
    in_tree = {
        path.relative_to(PROTOCOL).as_posix(): path.read_text(encoding="utf-8")
        for package in PACKAGES
        for path in (PROTOCOL / package.name).glob("*.py")
    }
    in_tree["api_table.py"] = (PROTOCOL / "api_table.py").read_text(encoding="utf-8")
    assert in_tree == generated
