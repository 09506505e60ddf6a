"""Refuse a kernel object that leaks code of its instruction-set level into the rest of the module.

An inline function or template that the compiler emits out of line becomes a *weak* symbol: the
linker keeps one copy of all that have the same name. Were the kept copy of, say, ``std::vector``'s
growth the one compiled for AVX-512, ordinary code would run it too and crash on older processors.
So weak symbols are allowed only inside the level's own namespace, where no other object names them.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterable

WEAK = frozenset("VWuvw")


def leaks(listing: str, level: str) -> list[str]:
    """Weak symbols of an ``nm --format=posix`` listing that lie outside the level's namespace."""
    part = f"9clearwood{len(level)}{level}"
    found = []
    for line in listing.splitlines():
        name, _, rest = line.partition(" ")
        kind = rest[:1]
        # lower-case v and w are references to be filled by somebody else, not code of ours
        if kind in WEAK - {"v", "w"} and part not in name:
            found.append(name)
    return found


def main(arguments: Iterable[str] | None = None) -> int:
    """Check the objects named on the command line; the exit status is 1 if any leaks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--level", required=True)
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args(None if arguments is None else list(arguments))
    status = 0
    for path in options.objects:
        command = [options.nm, "--format=posix", path]
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 (the build names the program)
        for name in leaks(listing, options.level):
            status = 1
            sys.stderr.write(
                f"{path}: weak symbol {name} lies outside namespace clearwood::{options.level}. "
                "Hint: keep standard-library templates out of kernels compiled per level.\n"
            )
    return status


if __name__ == "__main__":
    sys.exit(main())
