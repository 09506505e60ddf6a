"""A container is read back as written, or refused with the reason."""

import io
import json
import re
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood import InputError
from clearwood.files import Manifest, from_array, from_json, read, to_array, write

MEMBERS = {"a.json": from_json({"x": 1}), "b.npy": from_array(np.arange(1000.0))}


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "m.cw", Manifest("notes", {"numpy": "2.0"}), MEMBERS)
    return tmp_path / "m.cw"


def rewrite(path, change):
    """Take the archive apart, let `change` alter manifest and members, and put it together."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries.pop("manifest.json"))
    change(manifest, entries)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in entries.items():
            archive.writestr(name, data)


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
        st.binary(),
        max_size=5,
    )
)
@settings(max_examples=30)
def test_members_come_back_as_written(tmp_path_factory, members):
    members.pop("manifest.json", None)
    path = tmp_path_factory.mktemp("c") / "m.cw"
    write(path, Manifest("notes", {"numpy": "2.0"}), members)
    archive = read(path)
    assert archive.members == members
    assert (archive.manifest.kind, archive.manifest.libraries) == ("notes", {"numpy": "2.0"})
    assert archive.size == path.stat().st_size


def test_equal_content_gives_equal_bytes(tmp_path):
    write(tmp_path / "1", Manifest("notes"), MEMBERS)
    write(tmp_path / "2", Manifest("notes"), dict(reversed(MEMBERS.items())))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@given(data=st.data())
@settings(max_examples=200)
def test_every_changed_byte_is_noticed_or_harmless(tmp_path_factory, data):
    """Zip headers have bytes without meaning; content must never change unnoticed."""
    path = tmp_path_factory.mktemp("c") / "m.cw"
    write(path, Manifest("notes", {"numpy": "2.0"}), MEMBERS)
    good = read(path)
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    try:
        changed = read(path)
    except InputError:
        return
    assert changed.members == good.members
    assert changed.manifest == good.manifest
    assert changed.sha256 != good.sha256


@given(keep=st.floats(0, 1, exclude_max=True))
@settings(max_examples=50)
def test_a_truncated_file_is_refused(tmp_path_factory, keep):
    path = tmp_path_factory.mktemp("c") / "m.cw"
    write(path, Manifest("notes"), MEMBERS)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(keep * len(raw))])
    with pytest.raises(InputError, match=r"truncated|empty|not a Clearwood file"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"a,b\n1,2\n", "not a Clearwood file"), (b"\x80\x04.", "not a Clearwood")],
)
def test_other_files_are_refused(tmp_path, content, message):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "x")


def test_bytes_after_the_end_are_refused(path):
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(InputError, match="there is something after its end; nothing was run"):
        read(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read(tmp_path / "x")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)


def test_a_foreign_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match="zip archive, but not one of Clearwood's"):
        read(tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as archive:
        archive.writestr("manifest.json", '{"format": "crx"}')
    with pytest.raises(InputError, match="not one of Clearwood's"):
        read(tmp_path / "y.zip")


def test_a_newer_format_asks_for_an_upgrade(path):
    rewrite(path, lambda manifest, entries: manifest.update(format_version=2, clearwood="9.1"))
    with pytest.raises(InputError, match=r"version 2, written by Clearwood 9\.1.*pip install"):
        read(path)


def test_an_altered_member_is_named(path):
    rewrite(path, lambda manifest, entries: entries.update({"a.json": b'{"x":2}'}))
    with pytest.raises(InputError, match=r"'a\.json' does not match its checksum; nothing was run"):
        read(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, e: e.pop("a.json"), "member 'a.json' is missing"),
        (lambda m, e: e.update({"../c": b""}), "member '../c' is not listed"),
        (lambda m, e: e.update({"a.json": b"longer than before"}), "'a.json' has another size"),
        (lambda m, e: m.pop("kind"), "manifest has entries missing"),
        (lambda m, e: m.update(members=[1]), "manifest has entries missing"),
        (lambda m, e: m.update(format_version="1"), "manifest has entries missing"),
        (lambda m, e: m["members"].update({"a.json": 3}), "manifest has entries missing"),
    ],
)
def test_a_listing_that_does_not_fit_is_refused(path, change, message):
    rewrite(path, change)
    with pytest.raises(InputError, match=re.escape(message)):
        read(path)


def test_two_members_of_one_name_are_refused(path):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.json", MEMBERS["a.json"])
    with pytest.raises(InputError, match="two members of one name"):
        read(path)


def test_a_member_that_unpacks_to_far_too_much_is_refused_before_unpacking(path):
    """The declared size is set to 3 GiB in the central directory and in the manifest."""
    rewrite(path, lambda m, e: m["members"]["b.npy"].update(size=3 << 30))
    raw = path.read_bytes()
    at = raw.rindex(b"PK\x01\x02", 0, raw.rindex(b"b.npy"))
    raw = raw[: at + 24] + struct.pack("<I", 3 << 30) + raw[at + 28 :]
    path.write_bytes(raw)
    with pytest.raises(InputError, match="would unpack to 3,221,2"):
        read(path)


def test_other_ways_of_packing_are_refused(path):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    with pytest.raises(InputError, match="packed in an unknown way"):
        read(path)


def test_a_pickled_array_is_not_unpickled(tmp_path):
    class Payload:
        def __reduce__(self):
            return (open, (str(tmp_path / "canary"), "w"))

    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload()], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"member 'b.npy' is not a plain array.*nothing was run"):
        to_array(buffer.getvalue(), member="member 'b.npy'")
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("data", [b"", b"\x93NUMPY", b"\x80\x04\x95", b"PK\x03\x04", b"x" * 200])
def test_what_is_not_an_array_is_refused(data):
    with pytest.raises(InputError, match="not a plain array"):
        to_array(data)
