import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood.kernels import UbjsonDocument, UbjsonError


def size(n, marker="L"):
    return marker.encode() + struct.pack({"i": ">b", "U": ">B", "I": ">h", "L": ">q"}[marker], n)


def text(value):
    return size(len(value.encode())) + value.encode()


def numbers(array):
    """Write an array of numbers of one type, as XGBoost does."""
    marker = {"i1": "i", "u1": "U", "i2": "I", "i4": "l", "i8": "L", "f4": "d", "f8": "D"}
    array = np.asarray(array)
    code = marker[array.dtype.str[1:]].encode()
    return (
        b"[$"
        + code
        + b"#"
        + size(array.size)
        + array.astype(array.dtype.newbyteorder(">")).tobytes()
    )


def written(value, *, counted):
    """Write a value in Universal Binary JSON: every length written out, or containers with ends."""
    if isinstance(value, np.ndarray):
        return numbers(value)
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        return b"L" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"S" + text(value)
    if isinstance(value, list):
        inside = b"".join(written(one, counted=counted) for one in value)
        return b"[#" + size(len(value)) + inside if counted else b"[" + inside + b"]"
    inside = b"".join(text(key) + written(one, counted=counted) for key, one in value.items())
    return b"{#" + size(len(value)) + inside if counted else b"{" + inside + b"}"


NUMBERS = dict(zip(b"iUIlLdD", "bBhiqfd", strict=True))


class Reference:
    """Read a value byte by byte, as the format's description says; any error is a ValueError."""

    def __init__(self, data):
        self.data, self.at, self.depth = data, 0, 0

    def whole(self):
        value = self.value(self.marker())
        if self.at != len(self.data):
            raise ValueError("bytes are left")
        return value

    def take(self, n):
        if n < 0 or n > len(self.data) - self.at:
            raise ValueError("too few bytes")
        self.at += n
        return self.data[self.at - n : self.at]

    def next(self):
        return self.data[self.at] if self.at < len(self.data) else self.take(1)

    def marker(self):
        while (found := self.take(1)[0]) == ord("N"):
            pass
        return found

    def number(self, marker):
        code = ">" + NUMBERS[marker]
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def text(self):
        marker = self.marker()
        if marker not in b"iUIlL":
            raise ValueError("not a length")
        return self.take(self.number(marker)).decode()

    def value(self, marker):
        if marker in NUMBERS:
            return self.number(marker)
        if marker in b"ZTF":
            return {ord("Z"): None, ord("T"): True, ord("F"): False}[marker]
        if marker in b"SH":
            return self.text() if marker == ord("S") else float(self.text())
        if marker == ord("C"):
            return self.take(1).decode()
        if marker not in b"[{":
            raise ValueError("no value")
        self.depth += 1
        if self.depth > 64:
            raise ValueError("too deep")
        found = self.container(marker)
        self.depth -= 1
        return found

    def container(self, marker):
        implied, left = None, -1
        if self.next() == ord("$"):
            implied = self.take(2)[1]
            if implied in b"ZTFN" or self.next() != ord("#"):
                raise ValueError("not a common type")
        if self.next() == ord("#"):
            self.take(1)
            kind = self.marker()
            if kind not in b"iUIlL" or (left := self.number(kind)) < 0:
                raise ValueError("not a count")
        if marker == ord("[") and implied in NUMBERS:
            dtype = np.dtype(">" + NUMBERS[implied])
            return np.frombuffer(self.take(left * dtype.itemsize), dtype).astype(dtype.type)
        entries = []
        while left:
            if left < 0:
                while self.next() == ord("N"):
                    self.take(1)
                if self.next() == (ord("]") if marker == ord("[") else ord("}")):
                    self.take(1)
                    break
            key = self.text() if marker == ord("{") else None
            entries.append((key, self.value(implied or self.marker())))
            left -= 1
        if marker == ord("["):
            return [value for _, value in entries]
        if len(dict(entries)) != len(entries):
            raise ValueError("a key twice")
        return dict(entries)


def outcome(read, data):
    """What is read, or that it is refused."""
    try:
        return repr(plain(read(data)))
    except ValueError:
        return "refused"


def agrees_with_the_reference(data):
    expected = outcome(lambda data: Reference(data).whole(), data)
    assert outcome(lambda data: UbjsonDocument(data).value(), data) == expected


def plain(value):
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "values": value.tolist()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


arrays = st.one_of(
    *(
        st.lists(strategy, max_size=5).map(lambda values, dtype=dtype: np.array(values, dtype))
        for dtype, strategy in [
            ("i1", st.integers(-128, 127)),
            ("u1", st.integers(0, 255)),
            ("i2", st.integers(-(2**15), 2**15 - 1)),
            ("i4", st.integers(-(2**31), 2**31 - 1)),
            ("i8", st.integers(-(2**63), 2**63 - 1)),
            ("f4", st.floats(allow_nan=False, width=32)),
            ("f8", st.floats(allow_nan=False)),
        ]
    )
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | arrays,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(values, st.booleans())
def test_what_is_written_is_read(value, counted):
    assert plain(UbjsonDocument(written(value, counted=counted)).value()) == plain(value)


@given(values, st.booleans(), st.data())
def test_bytes_cut_short_are_refused(value, counted, data):
    whole = written(value, counted=counted)
    end = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(UbjsonError, match=r"byte \d+: \d+ bytes are announced, \d+ are left"):
        UbjsonDocument(whole[:end])


@given(values, st.binary(min_size=1, max_size=5))
def test_bytes_after_the_value_are_refused(value, more):
    with pytest.raises(UbjsonError, match=f"{len(more)} bytes follow the value"):
        UbjsonDocument(written(value, counted=True) + more)


@settings(max_examples=300)
@given(values, st.booleans(), st.data())
def test_changed_bytes_are_read_as_described_or_refused(value, counted, data):
    whole = bytearray(written(value, counted=counted))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    agrees_with_the_reference(bytes(whole))


markers = st.sampled_from(b"[]{}$#SHCNZTFiUIlLdD\x00\x01\x02\x03a1")


@settings(max_examples=500)
@given(st.lists(markers, max_size=30).map(bytes) | st.binary(max_size=40))
def test_any_bytes_are_read_as_described_or_refused(data):
    agrees_with_the_reference(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "byte 0: 1 bytes are announced, 0 are left"),
        (b"x", r"byte 0: no value starts with 'x'"),
        (b"]", r"byte 0: no value starts with '\]'"),
        (b"SL\xff\xff\xff\xff\xff\xff\xff\xff", "a length of -1"),
        (b"SL\x7f\xff\xff\xff\xff\xff\xff\xff", "9223372036854775807 bytes are announced, 0 are"),
        (b"Sd\x00\x00\x00\x00", "byte 1: a length cannot be of type 'd'"),
        (b"Si\x01\xff", "byte 3: a text is not UTF-8"),
        (b"{i\x01\xffZ}", "byte 3: a text is not UTF-8"),
        (b"{i\x01aZi\x01aZ}", "a key twice"),
        (b"{i\x01a}", r"no value starts with '}'"),
        (b"[$d", "1 bytes are announced"),
        (b"[$dZ", "a common type is not followed by a count"),
        (b"[$Z#L\x7f\xff\xff\xff\xff\xff\xff\xff", "elements without bytes have no common type"),
        (b"[$L#L\x7f\xff\xff\xff\xff\xff\xff\xff", "bytes are announced, 0 are left"),
        (b"[#L\x7f\xff\xff\xff\xff\xff\xff\xffZ", "1 bytes are announced, 0 are left"),
        (b"[" * 100_000, "values nest deeper than 64"),
        (b"[$[#i\x7f" * 10_000, "values nest deeper than 64"),
        (b"Hi\x03abc", "a text is not a number"),
    ],
)
def test_malformed_bytes_are_refused_with_their_place(data, words):
    with pytest.raises(UbjsonError, match=words):
        UbjsonDocument(data).value()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"NNi\x05", 5),
        (b"[Ni\x01NNi\x02N]", [1, 2]),
        (b"Ca", "a"),
        (b"Hi\x031.5", 1.5),
        (b"[$S#i\x02i\x01ai\x01b", ["a", "b"]),
        (b"{$U#i\x02i\x01a\x07i\x01b\x08", {"a": 7, "b": 8}),
        (b"[$[#i\x02#i\x01Z#i\x00", [[None], []]),
        (b"[$C#i\x02ab", ["a", "b"]),
    ],
)
def test_rarer_forms_are_read(data, value):
    assert UbjsonDocument(data).value() == value


def records(*trees):
    return UbjsonDocument(written({"trees": list(trees)}, counted=True))


def test_a_column_joins_the_arrays_of_all_records():
    first, second = np.array([1, -2], np.int32), np.array([3], np.int32)
    document = records({"a": first, "b": 1}, {"b": 2, "a": second})
    joined, counts = document.column(document.find("trees"), "a")
    assert (joined.tolist(), joined.dtype, counts.tolist()) == ([1, -2, 3], np.int32, [2, 1])


WRONG = r"byte \d+: an object has no numbers of the right type at 'a'"


@pytest.mark.parametrize(
    "trees",
    [
        [{"a": np.ones(1)}, {"b": np.ones(1)}],
        [{"a": np.ones(1)}, {"a": np.ones(1, np.int32)}],
        [{"b": np.ones(1)}],
        [{"a": [1.0]}],
        [{"a": "x"}],
        [{"a": {"b": 1}}],
        [{"a": 1}],
        [{"b": {"a": np.ones(1)}}],
        [np.ones(1)],
        ["a"],
    ],
)
def test_a_column_that_is_not_of_numbers_is_refused(trees):
    document = records(*trees)
    with pytest.raises(UbjsonError, match=WRONG):
        document.column(document.find("trees"), "a")


@pytest.mark.parametrize(
    ("value", "words"), [([], "has none"), ({}, "not an array"), (1, "not an")]
)
def test_a_column_of_no_objects_is_refused(value, words):
    document = UbjsonDocument(written(value, counted=True))
    with pytest.raises(UbjsonError, match=words):
        document.column(0, "a")


def test_an_absent_or_repeated_key_is_named():
    document = UbjsonDocument(b"{i\x01aZi\x01aZ}")
    with pytest.raises(UbjsonError, match="byte 1: an object has 'a' twice"):
        document.find("a")
    with pytest.raises(UbjsonError, match="there is no 'b' where one is expected"):
        document.find("b")
    assert not document.has("b")


def test_keys_are_looked_for_in_objects_only():
    document = UbjsonDocument(written([{"a": 1}], counted=True))
    assert document.has("a", within=1)
    assert not document.has("a")
    with pytest.raises(IndexError):
        document.value(99)


def test_a_document_keeps_its_bytes():
    document = UbjsonDocument(bytes(written(["abc"] * 1000, counted=True)))
    assert document.value() == ["abc"] * 1000


def test_deep_values_are_read():
    assert UbjsonDocument(b"[" * 64 + b"]" * 64).value() == eval("[" * 64 + "]" * 64)


@pytest.mark.parametrize("task", ["regression", "classes", "dart"])
def test_xgboost_writes_the_same_in_both_of_its_forms(task):
    xgb = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    params = {
        "regression": {},
        "classes": {"objective": "multi:softprob", "num_class": 3},
        "dart": {"rate_drop": 0.5, "booster": "dart", "verbosity": 0},
    }
    booster = xgb.train(params[task], xgb.DMatrix(X, y), 4)
    document = UbjsonDocument(booster.save_raw("ubj"))
    assert same(document.value(0), json.loads(bytes(booster.save_raw("json"))))


def same(binary, from_text):
    """Whether values agree, numbers of float32 up to how many digits the text has."""
    if isinstance(binary, dict):
        return binary.keys() == from_text.keys() and all(
            same(binary[k], from_text[k]) for k in binary
        )
    if isinstance(binary, list):
        return len(binary) == len(from_text) and all(map(same, binary, from_text))
    if isinstance(binary, np.ndarray):
        return np.array_equal(binary, np.array(from_text, binary.dtype))
    return binary == from_text or np.float32(binary) == np.float32(from_text)
