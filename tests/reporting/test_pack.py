"""Data carried in the page: what is read back is what was put in, and no text can leave it."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.reporting.page.pack import island

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(plain)
def test_what_is_read_back_is_what_was_put_in(value):
    assert json.loads(island(value)) == value


@given(st.text() | st.sampled_from(["</script>", "<!--", "]]>", "&lt;", "\u2028\u2029"]))
def test_no_text_holds_what_could_end_the_element(text):
    assert not set(island({text: text})) & set("<>&\u2028\u2029")


def test_numbers_that_are_not_finite_are_none():
    assert island([float("nan"), float("inf"), np.float64("nan")]) == "[null,null,null]"


def test_numpy_is_taken_as_plain_numbers():
    assert island({"a": np.arange(3), "b": np.float32(0.5), "c": np.bool_(1)}) == (
        '{"a":[0,1,2],"b":0.5,"c":true}'
    )


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="not JSON serializable"):
        island({"a": object()})
