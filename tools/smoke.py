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


def main() -> None:
    """Go through the library once."""
    import clearwood as cw

    if Path(cw.__file__).is_relative_to(REPOSITORY / "src"):
        raise SystemExit(f"this tries {cw.__file__}, which is the repository, not an installation")
    assert command("--version") == f"clearwood {cw.__version__}\n"
    assert "simulated" in command("demo", "--help")

    data = cw.datasets.insurance(300, seed=1)
    model = cw.learner("gbm", max_iter=4, max_depth=2).fit(data)
    rows = data.head(5)
    shapley = cw.shapley(model, rows, background=data)
    assert np.isfinite(model.predict(rows)).all()
    assert np.isfinite(shapley.values).all()
    cw.save(model, "model.cw")
    assert np.array_equal(cw.load("model.cw").predict(rows), model.predict(rows))
    assert cw.certify(cw.condense(model), model)
    cw.report(model, data).save("report.html")
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    print(f"clearwood {cw.__version__} on Python {sys.version.split()[0]} works")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            main()
        finally:
            os.chdir(before)
