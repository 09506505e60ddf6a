"""Rows that are made when they are needed, for tests of tables in parts; workers import it too."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

N_ROWS = 1200
TOWNS = np.array(["Bern", "Chur", "Genf", "Basel"])


@dataclass(frozen=True)
class Made:
    """Makes the same rows in any pieces; one town occurs in the last rows only."""

    weighted: bool = False
    classes: bool = False

    def __call__(self, start, stop):
        rng = np.random.default_rng(7)
        x = rng.normal(size=(N_ROWS, 4)).round(2)
        x[rng.random(N_ROWS) < 0.1, 1] = np.nan
        town = TOWNS[rng.integers(0, 3, N_ROWS)]
        town[-5:] = "Basel"
        mean = x[:, 0] * np.nan_to_num(x[:, 2]) + np.sin(x[:, 3]) + (town == "Chur")
        y = mean + 0.1 * rng.normal(size=N_ROWS)
        rows = {f"x{k}": x[:, k] for k in range(4)} | {"town": town, "y": y}
        if self.classes:
            rows["y"] = np.where(y < -0.5, "low", np.where(y > 0.8, "high", "middle"))
        if self.weighted:
            rows["w"] = rng.random(N_ROWS) * (rng.random(N_ROWS) < 0.9)
        return {name: values[start:stop] for name, values in rows.items()}


@dataclass(frozen=True)
class Deadly(Made):
    """Kills the worker that makes some rows, once for each file that it finds."""

    folder: str = ""

    def __call__(self, start, stop):
        for file in Path(self.folder).glob(f"{start}-*"):
            file.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(start, stop)


@dataclass(frozen=True)
class Broken(Made):
    """Cannot make some rows."""

    broken: bool = True

    def __call__(self, start, stop):
        if os.environ.get("BROKEN") and start == 400:
            raise OSError("the file is cut off")
        return super().__call__(start, stop)
