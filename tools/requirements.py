"""Print what Clearwood rests on, one requirement a line, with what the named extras add.

pip has no option to install only that. `make` unpacks it while the kernels are compiled.

usage: python tools/requirements.py [EXTRA ...]
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def requirements(project: dict, extras: list[str]) -> Iterator[str]:
    """Give the requirements of the base, then those of extras and of the extras that they name."""
    yield from project["dependencies"]
    pending = list(extras)
    while pending:
        extra = pending.pop()
        for line in project["optional-dependencies"][extra]:
            own = re.fullmatch(rf"{project['name']}\[(.*)\]", line)
            if own is None:
                yield line
            else:
                pending += own[1].split(",")


def main() -> None:
    """Print them."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(requirements(project, sys.argv[1:])))


if __name__ == "__main__":
    main()
