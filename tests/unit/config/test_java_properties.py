"""Java's properties text, case by case from the rules of `java.util.Properties`, and round trips of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.config.java_properties import load_properties, store_properties

text = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF), max_size=12)


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        (b"a=b", "a", "b"),
        (b"a:b", "a", "b"),
        (b"a b", "a", "b"),
        (b"  a \t = \f b ", "a", "b "),
        (b"a==b", "a", "=b"),
        (b"a", "a", ""),
        (b"a=", "a", ""),
        (b"=b", "", "b"),
        (b"a\\=b=c", "a=b", "c"),
        (b"a\\ b=c", "a b", "c"),
        (b"a=b\\\n   c", "a", "bc"),
        (b"a=b\\\\\n", "a", "b\\"),
        (b"a=b\\\r\n\tc", "a", "bc"),
        (b"a=\\u00e9\\t\\q", "a", "\u00e9\tq"),
        (b"a=b#c!d", "a", "b#c!d"),
        (b"a=\xe9", "a", "\u00e9"),
        (b"a=b\\", "a", "b"),
        (b"a=b\\\n#c", "a", "b#c"),
        (b"\\", "", ""),
    ],
)
def test_a_line_is_read_as_java_reads_it(line: bytes, key: str, value: str) -> None:
    assert load_properties(line) == {key: value}


def test_comments_and_blank_lines_are_left_out_and_the_last_value_stands() -> None:
    assert load_properties(b"#a=1\n !b=2\n\n   \nc=3\rc=4\n") == {"c": "4"}


def test_a_comment_is_not_continued() -> None:
    assert load_properties(b"# note\\\na=1\n") == {"a": "1"}


def test_a_broken_unicode_escape_is_refused() -> None:
    with pytest.raises(ValueError, match="escape"):
        load_properties(b"a=\\u12g4")


@given(st.dictionaries(text, text, max_size=4))
def test_what_is_stored_is_loaded_again(properties: dict[str, str]) -> None:
    assert load_properties(store_properties(properties, comments=["", "a note"])) == properties


def test_stored_text_is_plain_where_it_can_be() -> None:
    stored = store_properties({"node.id": "1", "a b": " c:d"}, comments=["when"])
    assert stored == b"#when\nnode.id=1\na\\ b=\\ c\\:d\n"
