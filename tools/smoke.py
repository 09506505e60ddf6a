"""Try an installed Clearwood: fit, explain, condense, save and report on a small table.

Runs from outside the repository with what a plain installation has, so it shows what a user gets.

usage: python tools/smoke.py
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]


def command(*words: str) -> str:
    """Run `clearwood` as a user's shell would, and give what it prints."""
    program = Path(sys.executable).with_name("clearwood" + (".exe" if os.name == "nt" else ""))
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"clearwood {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def try_command_line() -> None:
    """See that the command is there and is the one of this installation."""
    import clearwood as cw

    assert command("--version") == f"clearwood {cw.__version__}\n"
    assert "simulated" in command("demo", "--help")


def try_library(folder: Path) -> None:
    """Go through the library once; files go into the folder."""
    import clearwood as cw

    data = cw.datasets.insurance(300, seed=1)
    model = cw.learner("gbm", max_iter=4, max_depth=2).fit(data)
    rows = data.head(5)
    predictions = model.predict(rows)
    shapley = cw.explain(model, data).shapley(rows)
    assert np.isfinite(predictions).all()
    assert shapley.values.shape == (5, len(shapley.columns))
    assert np.isfinite(shapley.values).all()
    cw.save(model, folder / "model.cw")
    assert np.array_equal(cw.load(folder / "model.cw").predict(rows), predictions)
    assert cw.certify(cw.condense(model), model)
    cw.report(model, data, quick=True).save(folder / "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")


def main() -> None:
    """Try what is installed, from a folder of its own."""
    import clearwood as cw

    if Path(cw.__file__).is_relative_to(REPOSITORY / "src"):
        raise SystemExit(f"this tries {cw.__file__}, which is the repository, not an installation")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            try_command_line()
            try_library(Path(folder))
        finally:
            os.chdir(before)
    print(f"clearwood {cw.__version__} on Python {sys.version.split()[0]} works")


if __name__ == "__main__":
    main()
