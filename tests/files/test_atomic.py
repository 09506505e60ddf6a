"""Outputs are complete or absent."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from clearwood import InputError
from clearwood.files import atomic_write, removing_unfinished


def names(folder):
    return sorted(result.name for result in folder.iterdir())


def write_and(path, then, **options):
    with atomic_write(path, **options) as file:
        file.write(b"new")
        then()


def fail(error):
    def then():
        raise error

    return then


def test_a_finished_block_leaves_the_file_and_nothing_else(tmp_path):
    with atomic_write(tmp_path / "a.bin") as file:
        file.write(b"abc")
        assert names(tmp_path) != ["a.bin"]  # not there under its name before it is complete
    assert (tmp_path / "a.bin").read_bytes() == b"abc"
    assert names(tmp_path) == ["a.bin"]


def test_text_keeps_line_ends_and_letters(tmp_path):
    with atomic_write(tmp_path / "a.csv", text=True) as file:
        file.write("größe\r\n1\n")
    assert (tmp_path / "a.csv").read_bytes() == "größe\r\n1\n".encode()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, FileNotFoundError])
def test_an_error_in_the_block_leaves_what_was_there(tmp_path, error):
    (tmp_path / "a.bin").write_bytes(b"old")
    with pytest.raises(error):
        write_and(tmp_path / "a.bin", fail(error), force=True)
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


def test_an_existing_file_is_replaced_only_with_force(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(InputError, match=r"a\.bin' exists already.*force=True"), atomic_write(path):
        pass
    assert path.read_bytes() == b"old"
    with atomic_write(path, force=True) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_file_that_appears_meanwhile_is_not_replaced_without_force(tmp_path):
    path = tmp_path / "a.bin"
    with pytest.raises(InputError, match="exists already"):
        write_and(path, lambda: path.write_bytes(b"theirs"))
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["a.bin"]


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "no" / "a.bin"
    with (
        pytest.raises(InputError, match=r"folder '.*no' does not exist.*mkdir"),
        atomic_write(path),
    ):
        pass


def test_a_folder_in_place_of_a_file_is_named(tmp_path):
    with pytest.raises(InputError, match="is a folder"), atomic_write(tmp_path, force=True):
        pass


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with (
        pytest.raises(InputError, match=r"cannot write.*not a directory"),
        atomic_write(tmp_path / "a" / "b"),
    ):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_explained(tmp_path):
    tmp_path.chmod(0o500)
    with (
        pytest.raises(InputError, match=r"cannot write.*permission.*of your own"),
        atomic_write(tmp_path / "a"),
    ):
        pass


def test_permissions_follow_the_umask_and_an_existing_file_keeps_its_own(tmp_path):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        with atomic_write(path):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    with atomic_write(path, force=True):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_and_the_file_it_names_is_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link", force=True) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_said(tmp_path):
    with (
        pytest.raises(
            InputError, match=r"cannot write '/dev/full': no space left.*free some space"
        ),
        atomic_write("/dev/full") as file,
    ):
        file.write(b"x" * 100_000)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


RUN_OUT = """
    import resource, signal, sys
    from clearwood import InputError
    from clearwood.files import atomic_write
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        with atomic_write(sys.argv[1], force=True) as file:
            file.write(b"x" * 100_000)
    except InputError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_running_out_of_space_half_way_leaves_the_old_file(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RUN_OUT), str(tmp_path / "a")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot write" in done.stdout
    assert "unchanged" in done.stdout
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


STUCK = """
    import sys, time
    from clearwood.files import atomic_write
    with atomic_write(sys.argv[1], force=True) as file:
        file.write(b"half")
        file.flush()
        print("half", flush=True)
        time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_killed_process_leaves_the_old_file_or_none(tmp_path, old):
    path = tmp_path / "a"
    if old is not None:
        path.write_bytes(old)
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(STUCK), str(path)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"half\n"
        process.send_signal(signal.SIGKILL)
    assert (path.read_bytes() if path.exists() else None) == old


def test_what_killed_processes_leave_is_removed_and_nothing_else(tmp_path):
    other = tmp_path / ".clearwood-of-another-run.part"
    other.touch()
    own = tmp_path / "part-0.parquet"

    def interrupted():
        with removing_unfinished(tmp_path):
            own.touch()
            (tmp_path / ".clearwood-0123.part").touch()  # its process was killed
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert sorted(tmp_path.iterdir()) == [other, own]
