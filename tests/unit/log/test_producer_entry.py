"""A producer's entry: the short way of batches in sequence ends where the long way does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.producer_entry import SEQUENCE_MAX, AppendOrigin, BatchMetadata, ProducerEntry
from barnabas.protocol.errors import ApiError
from barnabas.records.batch import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader

sequences = st.sampled_from([0, 1, 4, 5, 6, SEQUENCE_MAX - 1, SEQUENCE_MAX])


@st.composite
def entries(draw: st.DrawFn) -> ProducerEntry:
    last = draw(sequences)
    batches = tuple(BatchMetadata(last, 10 + each, 0, 7) for each in range(draw(st.integers(0, 5))))
    return ProducerEntry(3, draw(st.integers(-1, 2)), 4, 7, draw(st.sampled_from([None, None, 9])), batches)


@st.composite
def headers(draw: st.DrawFn) -> BatchHeader:
    delta = draw(st.integers(0, 3))
    attributes = draw(st.sampled_from([0, 0, 0, TRANSACTIONAL_FLAG, CONTROL_FLAG]))
    return BatchHeader(50, 0, 0, 2, 0, attributes, delta, 0, 99, 3, draw(st.integers(0, 2)), draw(sequences), delta + 1)


@given(entries(), headers())
def test_a_batch_next_in_sequence_leaves_the_same_entry_the_short_way(
    entry: ProducerEntry, header: BatchHeader
) -> None:
    short = entry.with_next(header, header.last_offset)
    if short is not None:
        assert short == entry.with_batch(header, AppendOrigin.CLIENT)
        assert entry.find_duplicate(header) is None


@given(st.integers(0, 3), st.integers(1, 5))
def test_the_usual_batch_takes_the_short_way(delta: int, known: int) -> None:
    batches = tuple(BatchMetadata(4, 10, 0, 7) for _ in range(known))
    header = BatchHeader(50, 0, 0, 2, 0, 0, delta, 0, 99, 3, 1, 5, delta + 1)
    assert ProducerEntry(3, 1, 4, 7, None, batches).with_next(header, 50 + delta) is not None


@given(entries(), headers())
def test_what_the_long_way_refuses_never_takes_the_short_one(entry: ProducerEntry, header: BatchHeader) -> None:
    try:
        entry.with_batch(header, AppendOrigin.CLIENT)
    except ApiError:
        assert entry.with_next(header, header.last_offset) is None
