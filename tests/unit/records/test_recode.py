"""Batches written anew: under another codec, and with offsets in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.records.batch import read_header, validate
from barnabas.records.build import assemble, build_batch
from barnabas.records.compression import Compression
from barnabas.records.recode import recompress, renumber
from barnabas.records.record import iterate_records, read_record_bytes
from record_model import Plain, encode, place, plain_records

codecs = st.sampled_from(Compression)


@given(plain_records(), codecs, codecs, st.booleans())
def test_another_codec_changes_nothing_else(
    plain: list[Plain], source: Compression, target: Compression, is_transactional: bool
) -> None:
    records = [place(record, 5, 2**45) for record in plain]
    batch = build_batch(records, compression=source, is_transactional=is_transactional, producer_id=3, base_sequence=0)
    header = validate(batch)
    changed = recompress(header, read_record_bytes(batch, 0, header), target)
    found = validate(changed)
    assert found.compression is target
    assert list(iterate_records(changed, 0, found)) == records
    same = {"batch_length": 0, "crc": 0, "attributes": 0}
    assert found._replace(**same) == header._replace(**same)
    assert found.is_transactional == is_transactional


@given(plain_records(), codecs)
def test_renumbered_records_are_contiguous_and_otherwise_the_same(plain: list[Plain], target: Compression) -> None:
    record_bytes = b"".join(map(encode, plain))
    sample = read_header(build_batch([place(plain[0], 0, 2**45)]))
    header = sample._replace(record_count=len(plain), last_offset_delta=plain[-1].offset_delta, base_offset=7)
    changed = renumber(read_header(assemble(header, record_bytes)), record_bytes, target)
    found = validate(changed)
    assert found.last_offset_delta == len(plain) - 1
    expected = [place(record._replace(offset_delta=i), 7, header.base_timestamp) for i, record in enumerate(plain)]
    assert list(iterate_records(changed, 0, found)) == expected
