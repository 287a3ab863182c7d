"""What holds for every declared message: codecs of all versions agree with themselves, numbers lead to classes."""

from __future__ import annotations

import pytest

from barnabas.protocol import group_records, metadata_records, remote_log_records, share_records, transaction_records
from barnabas.protocol.catalogue import Catalogue
from barnabas.protocol.codec import decode, encode
from barnabas.protocol.schema import field_specs
from declared_messages import PACKAGES, RandomMessages, every_message, messages_of


@pytest.mark.parametrize("package", PACKAGES)
def test_oldest_and_newest_version_read_what_they_wrote(package: str) -> None:
    """Every version is judged by Kafka's own classes elsewhere; this finds a broken declaration without them."""
    source = RandomMessages(seed=7)
    for cls in messages_of(package):
        for version in {cls.valid_versions[0], cls.valid_versions[-1]}:
            message = source.message(cls, version)
            assert decode(cls, version, encode(message, version)) == message


def test_every_field_that_some_version_lacks_has_a_default() -> None:
    for cls in every_message():
        for spec in field_specs(cls):
            is_always_there = all(spec.is_present(version) for version in cls.valid_versions)
            assert is_always_there or spec.has_default, f"{cls.__name__}.{spec.name}"


CATALOGUES = [
    (metadata_records.RECORDS, 26),
    (group_records.KEYS, 22),
    (group_records.VALUES, 22),
    (transaction_records.KEYS, 1),
    (transaction_records.VALUES, 1),
    (share_records.KEYS, 2),
    (share_records.VALUES, 2),
    (remote_log_records.RECORDS, 4),
]


@pytest.mark.parametrize(("catalogue", "count"), CATALOGUES)
def test_a_records_number_leads_to_its_class(catalogue: Catalogue, count: int) -> None:
    assert len(catalogue) == count
    assert {number: cls.api_key for number, cls in catalogue.items()} == {number: number for number in catalogue}
