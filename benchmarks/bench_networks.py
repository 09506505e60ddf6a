"""How well the tuned ``network`` predicts, beside scikit-learn's network, ``mlp``.

The tables are those of ``../shared/data``, cut to 600 rows; scikit-learn's own where that folder is
missing. Both learners have the same outer and inner folds and as many trials, each its defaults
among them. The rows that are drawn and the folds are others than those on which the settings of
``network`` were developed (seeds 101 and 202). ``python -m benchmarks.bench_networks TABLE ROW_SEED
SEED`` takes other ones.
"""

import json
import math
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from threadpoolctl import threadpool_limits

import clearwood as cw
from benchmarks._shared_tables import DATA, SHARED, Rows, read_shared

__all__ = ["Beside", "compare", "report"]

ROWS = 600
OUTER, INNER, TRIALS = 3, 2, 3
#: Of the rows that are drawn, and of folds, searches and fits.
ROW_SEED, SEED = 7, 17
OURS, PEER = "network", "mlp"


@dataclass(frozen=True)
class Beside:
    """Both learners on one table.

    Parameters
    ----------
    table, n_rows, measure
        The table, its rows, and what the losses are: root mean squared error or log loss.
    ours, peer
        The losses of ``network`` and ``mlp`` on held-out rows.
    difference, low, high
        Risk of ``network`` minus that of ``mlp`` (mean squared errors, or log losses), as a share
        of the risk of ``mlp``, with the 90 % interval.
    verdict
        Which is clearly better, if any: the interval excludes zero.
    ours_seconds, peer_seconds
        CPU seconds of one fit with the chosen settings.
    """

    table: str
    n_rows: int
    measure: str
    ours: float
    peer: float
    difference: float
    low: float
    high: float
    verdict: str
    ours_seconds: float
    peer_seconds: float


def report(*, quick: bool, path: Path) -> int:
    """Print the table, write its figures and count the tables on which ours is clearly worse."""
    if find_spec("torch") is None:
        install = f"{sys.executable} -m pip install 'clearwood[networks]'"
        print(f"networks: left out, as PyTorch is not installed: {install}")
        return 0
    print(
        f"\n{'table':12}{'rows':>5}{'measure':>9}{PEER:>10}{OURS:>10}{'difference in risk':>20}"
        f"{'90 % interval':>20}  verdict"
    )
    results = []
    for rows in _tables(quick=quick):
        result = compare(rows, trials=2 if quick else TRIALS)
        results.append(result)
        print(_line(result), flush=True)
    path.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n", "utf-8")
    print(f"\nnetworks: written to {path}")
    return sum(one.low > 0 for one in results)


def _line(result: Beside) -> str:
    interval = f"{100 * result.low:+.1f} % to {100 * result.high:+.1f} %"
    return (
        f"{result.table:12}{result.n_rows:5}{result.measure:>9}{result.peer:10.4g}"
        f"{result.ours:10.4g}{100 * result.difference:+18.1f} %{interval:>20}  {result.verdict}"
    )


def compare(rows: Rows, *, trials: int, seed: int = SEED) -> Beside:
    """Tune both learners on one table, with paired folds."""
    table = cw.read(
        rows.X.assign(**{"the target": rows.target}),
        target="the target",
        # counts and amounts as numbers: scikit-learn's network has the squared error only
        task=None if rows.classes else "regression",
    )
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bench = cw.benchmark(
            table,
            [OURS, PEER],
            outer=OUTER,
            inner=INNER,
            tune=trials,
            repeats=1,
            seed=seed,
            interval="naive",
            on_error="raise",
        )
    gap = bench.compare(OURS, PEER)
    ours, peer = bench[OURS], bench[PEER]
    verdict = "no clear difference"
    if gap.high < 0 or gap.low > 0:
        verdict = f"{OURS if gap.high < 0 else PEER} clearly better"
    return Beside(
        table=rows.name,
        n_rows=len(rows.y),
        measure="log loss" if rows.classes else "RMSE",
        ours=ours.risk if rows.classes else math.sqrt(ours.risk),
        peer=peer.risk if rows.classes else math.sqrt(peer.risk),
        difference=gap.difference / peer.risk,
        low=gap.low / peer.risk,
        high=gap.high / peer.risk,
        verdict=verdict,
        ours_seconds=ours.fit_seconds,
        peer_seconds=peer.fit_seconds,
    )


def _tables(*, quick: bool) -> Iterator[Rows]:
    """Return the shared tables, or scikit-learn's where there are none."""
    if not DATA.is_dir():
        print(f"no tables at {DATA}: diabetes and breast cancer of scikit-learn instead")
        from sklearn.datasets import load_breast_cancer, load_diabetes

        for name, load in (("diabetes", load_diabetes), ("breast cancer", load_breast_cancer)):
            X, y = load(return_X_y=True, as_frame=True)
            yield Rows(name, X, y.to_numpy(), classes=name == "breast cancer")
        return
    for name in list(SHARED)[: 2 if quick else None]:
        yield read_shared(name, rows=ROWS, seed=ROW_SEED, raw=True)


def main() -> None:
    """Print one table with other rows and folds."""
    name, row_seed, seed = sys.argv[1:]
    rows = read_shared(name, rows=ROWS, seed=int(row_seed), raw=True)
    print(_line(compare(rows, trials=TRIALS, seed=int(seed))))


if __name__ == "__main__":
    main()
