"""Check that a wheel holds what the package needs at run time, and nothing else.

usage: python tools/check_wheel.py WHEEL...
"""

import sys
from pathlib import Path
from zipfile import ZipFile

PACKAGE = Path(__file__).parents[1] / "src" / "clearwood"
SOURCES = {".cpp", ".hpp", ".md"}
COMPILED = {".so", ".pyd"}
MUST_HAVE = {"clearwood/py.typed", "clearwood/kernels/_core.pyi"}


def files_of_the_package() -> set[str]:
    """Names of the files below src/clearwood that belong into a wheel."""
    return {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file()
        and path.suffix not in SOURCES | COMPILED
        and "__pycache__" not in path.parts
    }


def faults(wheel: Path) -> list[str]:
    """What is wrong with a wheel, one sentence each."""
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    names = {name for name in names if ".dist-info/" not in name}
    compiled = {name for name in names if Path(name).suffix in COMPILED}
    expected = files_of_the_package() | MUST_HAVE
    found = [f"{name} is missing" for name in sorted(expected - names)]
    found += [f"{name} does not belong there" for name in sorted(names - expected - compiled)]
    if [Path(name).parent.as_posix() for name in compiled] != ["clearwood/kernels"]:
        found.append(
            f"one compiled module is expected in clearwood/kernels, not {sorted(compiled)}"
        )
    for kind in (".css", ".js", ".j2"):
        if not any(name.endswith(kind) for name in names):
            found.append(f"the report's {kind} files are missing")
    return found


def main() -> int:
    """Print what is wrong with the wheels on the command line; 0 if nothing is."""
    wheels = [Path(argument) for argument in sys.argv[1:]]
    if not wheels:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = [f"{wheel.name}: {fault}" for wheel in wheels for fault in faults(wheel)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
