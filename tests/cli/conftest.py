"""The command line, run in this process, and small tables to run it on."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from clearwood.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch):
    """Run `clearwood ...` in an empty folder, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("CLEARWOOD_TRACEBACK", "CLEARWOOD_PROGRESS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Answer(stop.value.code, out, err)

    return run


@pytest.fixture
def refused(cli):
    """Run a command that must be refused; give what it said."""

    def run(*words):
        answer = cli(*words)
        assert answer.code == 2, answer
        assert answer.out == ""
        assert "Traceback" not in answer.err
        assert [line for line in answer.err.splitlines() if line.startswith("error: ")]
        return answer.err

    return run


def _claims(n, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    power = rng.normal(90, 25, n).round(1)
    region = rng.choice(["north", "south", "east"], n)
    accidents = rng.poisson(np.exp(-1.5 + 0.01 * (60 - age) + 0.3 * (region == "south")))
    lines = ["age,power,region,accidents"]
    for row, (a, p, r, y) in enumerate(zip(age, power, region, accidents, strict=True)):
        lines.append(f"{a},{'' if row % 17 == 3 else p},{r},{y}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def claims(tmp_path):
    """A table of counts with a category and missing values."""
    path = tmp_path / "claims.csv"
    path.write_text(_claims(200))
    return path


@pytest.fixture
def flowers(tmp_path):
    """A table of three classes."""
    rng = np.random.default_rng(1)
    kinds = rng.choice(["iris", "rose", "tulip"], 150)
    length = rng.normal(0, 0.5, 150) + np.select([kinds == "iris", kinds == "rose"], [1, 3], 5)
    rows = [
        f"{size:.3f},{size * 2 % 3:.3f},{kind}" for size, kind in zip(length, kinds, strict=True)
    ]
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(["length,width,kind", *rows]) + "\n")
    return path


@pytest.fixture
def table(tmp_path):
    """Write a table from its text; give its path."""

    def write(text, name="data.csv", **options):
        path = tmp_path / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, **options)
        return path

    return write
