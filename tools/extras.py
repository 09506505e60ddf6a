"""Measure what an installation takes on the disk: the base, and what each extra adds to it.

Installs the wheel into an empty environment without compiled bytecode, then each extra on top, and
removes what the extra brought before the next one. Prints the table of the install page, in MB of a
million bytes. It downloads all extras, PyTorch included.

usage: python tools/extras.py WHEEL [EXTRA ...]
"""

import platform
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
#: Extras for those who work on Clearwood, not with it.
OWN = {"docs", "test"}


class Environment:
    """An empty environment, and what is installed in it."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.folder = folder
        self.python = Path(sysconfig.get_path("scripts", "venv", {"base": str(folder)})) / "python"

    def pip(self, *words: str) -> None:
        """Run pip."""
        command = [self.python, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
        subprocess.run(command, check=True)

    def install(self, what: str) -> None:
        """Install without bytecode, which the first import would write."""
        self.pip("install", "--no-compile", what)

    def packages(self) -> set[str]:
        """Return the names of what is installed."""
        return {
            path.name.partition("-")[0] for path in self.folder.rglob("site-packages/*.dist-info")
        }

    def size(self) -> int:
        """Return the bytes of all files, links not counted."""
        files = (file for file in self.folder.rglob("*") if file.is_file())
        return sum(file.stat().st_size for file in files if not file.is_symlink())


def measured(wheel: Path, extras: list[str]) -> Iterator[tuple[str, int, set[str]]]:
    """Give bytes and packages of the base (named "none"), and those that each extra adds."""
    with tempfile.TemporaryDirectory() as folder:
        place = Environment(Path(folder) / "env")
        empty, nothing = place.size(), place.packages()
        place.install(str(wheel))
        yield "none", place.size() - empty, place.packages() - nothing
        for extra in extras:
            # an extra may have replaced a package of the base, which then stays
            before, packages = place.size(), place.packages()
            place.install(f"{wheel}[{extra}]")
            added = place.packages() - packages
            yield extra, place.size() - before, added
            if added:
                place.pip("uninstall", "--yes", *sorted(added))


def main() -> int:
    """Print the table."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    known = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    extras = sys.argv[2:] or [name for name in known if name not in OWN]
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}\n")
    print("| extra | MB | packages |\n|---|---|---|")
    for extra, size, packages in measured(Path(sys.argv[1]).resolve(), extras):
        print(f"| {extra} | {size / 1e6:.0f} | {', '.join(sorted(packages))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
