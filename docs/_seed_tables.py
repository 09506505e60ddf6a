"""Print the slow tables of the worked examples: run `python docs/_seed_tables.py`.

The pages run the same code with fewer draws, as tests.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import clearwood as cw

FORESTS = Path(__file__).parents[2] / "shared" / "data" / "born_again" / "forests"
TABLES = ("HTRU2", "COMPAS-ProPublica", "FICO", "Seeds", "Pima-Diabetes", "Breast-Cancer-Wisconsin")


def shifted(draws: int = 40) -> Iterator[str]:
    """Give mean squared errors where columns no longer go together as in the training rows."""
    learners = {
        "ols": cw.learner("ols"),
        "xgboost of its library": cw.learner(
            "xgboost", n_estimators=100, learning_rate=0.3, max_depth=6, colsample_bynode=1.0
        ),
        "xgboost of Clearwood": cw.learner("xgboost"),
    }
    errors = {name: np.zeros(3) for name in learners}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        training = _rows(100, rng, together=True)
        sets = (training, _rows(2000, rng, together=True), _rows(2000, rng, together=False))
        for name, learner in learners.items():
            model = learner.fit(training)
            errors[name] += [np.mean((model.predict(rows) - rows.y) ** 2) for rows in sets]
    for name, sums in errors.items():
        yield f"| {name} | " + " | ".join(f"{one:.3g}" for one in sums / draws) + " |"


def _rows(n: int, rng: np.random.Generator, *, together: bool) -> cw.Table:
    x1 = rng.normal(size=n)
    x2 = 2 * (x1 if together else rng.normal(size=n)) + 0.2 * rng.normal(size=n)
    y = 3 * x1 + 2 * x2 + 0.5 * rng.normal(size=n)
    return cw.read({"x1": x1, "x2": x2, "y": y}, target="y")


def public_forests() -> Iterator[str]:
    """Give the sizes of the single trees that equal the public forests of Vidal and Schiffer."""
    for table in TABLES:
        for fold in (1, 2, 3):
            forest = cw.forest.read_text(FORESTS / f"{table}.RF{fold}.txt")
            ends = [*forest.roots[1:], len(forest.left)]
            counts = [
                int((forest.left[start:end] < 0).sum())
                for start, end in zip(forest.roots, ends, strict=True)
            ]
            fast, good = (cw.condense(forest, effort=effort) for effort in ("fast", "good"))
            if not cw.certify(good, forest):
                raise SystemExit(f"{table} {fold} is not proved")
            cells = [table, fold, sum(counts), f"{math.prod(counts):.3g}"]
            cells += [f"{fast.n_leaves:,}", f"{good.n_leaves:,}", good.depth]
            yield "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    for line in shifted():
        print(line)
    if FORESTS.exists():
        for line in public_forests():
            print(line)
