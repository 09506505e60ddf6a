import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NM = shutil.which("nm")
COMPILER = shutil.which("c++")

pytestmark = pytest.mark.skipif(NM is None, reason="needs nm")


@pytest.fixture(scope="module")
def check():
    path = ROOT / "cmake" / "check_symbols.py"
    spec = importlib.util.spec_from_file_location("check_symbols", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(source, folder):
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    (folder / "kernel.cpp").write_text(source)
    command = [COMPILER, "-std=c++20", "-O0", "-c", "kernel.cpp", "-o", "kernel.o"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "kernel.o")


def test_inline_code_outside_the_level_is_reported(check, tmp_path, capsys):
    shared = "inline int twice(int x) { return 2 * x; }"
    body = "namespace clearwood::avx2 { int f(int x) { return twice(x); } }"
    objects = compiled(f"{shared}\n{body}", tmp_path)
    assert check.main(["--level", "avx2", objects]) == 1
    assert "twice" in capsys.readouterr().err


def test_inline_code_of_the_level_is_allowed(check, tmp_path):
    body = "inline int twice(int x) { return 2 * x; } int f(int x) { return twice(x); }"
    objects = compiled(f"namespace clearwood::avx2 {{ {body} }}", tmp_path)
    assert check.main(["--level", "avx2", objects]) == 0


def test_inline_code_of_another_level_is_reported(check, tmp_path):
    body = "inline int twice(int x) { return 2 * x; } int f(int x) { return twice(x); }"
    objects = compiled(f"namespace clearwood::avx2 {{ {body} }}", tmp_path)
    assert check.main(["--level", "baseline", objects]) == 1


def test_shared_template_over_a_type_of_the_level_is_allowed(check):
    # its name holds the level's, so no object of another level can mean the same function
    sort = "_ZSt4sortIPN9clearwood4avx24NodeEEvT_S3_"
    assert check.leaks(f"{sort} W 0 10", "avx2") == []
    assert check.leaks(f"{sort} W 0 10", "avx512") == [sort]


BUILT = sorted((ROOT / "build").glob("*/CMakeFiles/kernel_*.dir/**/*.o"))


def target(path):
    """The build target of an object: kernel_<area>_<name>_<level>."""
    return next(part for part in path.parts if part.startswith("kernel_")).removesuffix(".dir")


@pytest.mark.skipif(not BUILT, reason="needs the objects of a build in build/")
@pytest.mark.parametrize("path", BUILT, ids=target)
def test_no_built_kernel_leaks_code_of_its_level(check, path):
    level = target(path).rpartition("_")[2]
    assert check.main(["--level", level, str(path)]) == 0
