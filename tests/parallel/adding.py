"""Sums of the numbers of parts, for tests of work over parts; imported by their workers too."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clearwood.parallel import State

IDENTITY = {"work": "sums"}


@dataclass(frozen=True)
class Numbers:
    """A part that holds its numbers."""

    name: str
    numbers: tuple = ()


def parts_of(*groups):
    return [Numbers(f"part-{k}", tuple(numbers)) for k, numbers in enumerate(groups)]


def summed(part):
    """Sum, in an order that shows: the result of floating-point sums depends on it."""
    return State({"rows": len(part.numbers)}, {"sum": np.array([sum(part.numbers, 0.0)])})


def added(one, other):
    return State(
        {"rows": one.values["rows"] + other.values["rows"]},
        {"sum": one.arrays["sum"] + other.arrays["sum"]},
    )


@dataclass(frozen=True)
class Logged:
    """Sums, noting every part that is begun in a folder; some parts kill their worker once."""

    folder: Path
    deadly: tuple = ()
    broken: tuple = ()
    seconds: float = 0.0

    def __call__(self, part):
        n_begun = len(list(self.folder.glob(f"{part.name}.*")))
        (self.folder / f"{part.name}.{n_begun}").touch()
        if part.name in self.deadly and n_begun == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if part.name in self.broken:
            raise ValueError("row group 3 is cut off")
        time.sleep(self.seconds)
        return summed(part)

    def begun(self):
        return sorted(file.name.split(".")[0] for file in self.folder.iterdir())


@dataclass(frozen=True)
class Fatal:
    name: str

    def __call__(self, part):
        if part.name == self.name:
            os.kill(os.getpid(), signal.SIGKILL)
        return summed(part)


@dataclass(frozen=True)
class Flaky:
    folder: Path

    def __call__(self, part):
        file = self.folder / "once"
        if part.name == "part-1" and not file.exists():
            file.touch()
            raise OSError("the connection was reset")
        return summed(part)


PARTS = parts_of(*([0.1 * k, 1e9 / (k + 1)] for k in range(12)))
