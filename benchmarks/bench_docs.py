"""Figures of the docs that no other section prints: ``python -m benchmarks.bench_docs [NAME ...]``.

Each figure is a function that yields lines: what was simulated or fitted, the number, and its
Monte Carlo standard error where there is one. Pages that show a figure name it.
"""

import argparse
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

import clearwood as cw
from benchmarks._harness import ROOT
from clearwood._shared.errors import did_you_mean
from clearwood.resampling import KFold, split_parts

__all__ = ["FIGURES", "report"]

SHARED = ROOT.parent / "shared" / "data"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Size:
    """How much is simulated: shares of the full number of draws."""

    quick: bool

    def of(self, draws: int) -> int:
        """Return the number of draws, a twentieth of it for a first look."""
        return max(2, draws // 20) if self.quick else draws


def report(*, quick: bool, path: Path) -> int:
    """Print and write all figures."""
    _printed(FIGURES, quick=quick, path=path)
    return 0


def _printed(names: Sequence[str] | dict[str, Any], *, quick: bool, path: Path) -> None:
    lines: dict[str, list[str]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            print(f"\n{name}", flush=True)
            lines[name] = []
            for line in FIGURES[name](Size(quick)):
                lines[name].append(line)
                print(f"  {line}", flush=True)
    path.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _share(hits: Sequence[Any] | Floats) -> str:
    """Write the mean of a draw's hits or shares in per cent, with its standard error."""
    values = np.asarray(hits, dtype=float)
    return f"{100 * values.mean():.1f} ± {100 * values.std() / np.sqrt(len(values)):.1f} %"


# docs/models/subset.md


def split(size: Size) -> Iterator[str]:
    """How often the interval of the strongest of eight columns of noise holds zero."""
    held: dict[str, list[bool]] = {"the same rows": [], "other rows": []}
    for seed in range(size.of(300)):
        rng = np.random.default_rng(seed)
        noise = {f"x{j}": rng.normal(size=80) for j in range(8)}
        data = cw.read({**noise, "y": rng.normal(size=80)}, target="y")
        # one column is chosen by its F test, which for one column is the best subset
        model = cw.learner("ols", select="anova:1").fit(data)
        for name, share in (("the same rows", None), ("other rows", 0.5)):
            table = cw.coefficients(model, data, split=share, seed=seed)
            held[name].append(bool(table.low[1] <= 0 <= table.high[1]))
    for name, hits in held.items():
        yield f"{len(hits)} tables, {name} choose: {_share(hits)}"


def noise(size: Size) -> Iterator[str]:
    """How many of twelve columns of noise BIC chooses: resampled rows, and new tables."""
    columns = [f"x{j}" for j in range(12)]

    def table(seed: int, n_rows: int = 200) -> cw.Table:
        rng = np.random.default_rng(seed)
        values = {name: rng.normal(size=n_rows) for name in columns}
        return cw.read({**values, "y": rng.normal(size=n_rows)}, target="y")

    def chosen(data: cw.Table) -> float:
        model = cw.learner("subset").fit(data)
        return cw.explanation.path(model, data).chosen / len(columns)

    tables = size.of(100)
    kinds: tuple[Literal["bootstrap", "half"], ...] = ("bootstrap", "half")
    for kind in kinds:
        shares = [
            float(
                np.sum(
                    cw.benchmarking.inclusion(
                        "subset", table(seed), draws=20, resampled=kind
                    ).shares
                )
                / len(columns)
            )
            for seed in range(tables)
        ]
        yield f"{tables} tables, 20 samples each, {kind}: {_share(shares)}"
    shares = [chosen(table(1000 + k)) for k in range(10 * tables)]
    yield f"{len(shares)} new tables: {_share(shares)}"


def splicing(size: Size) -> Iterator[str]:
    """Best subsets beside abess, which splices columns: on how many tables both choose alike."""
    try:
        from abess import LinearRegression
    except ModuleNotFoundError:
        yield "abess is not installed: pip install abess"
        return
    same, worse, excess, tables = 0, 0, 0.0, 0
    for n_columns in (30, 40):
        for rho in (0.5, 0.9):
            for seed in range(size.of(3) if size.quick else 3):
                rng = np.random.default_rng([n_columns, int(10 * rho), seed])
                X, y = _correlated(rng, 300, n_columns, rho)
                path = cw.explanation.path(
                    cw.learner("subset").fit(X, y), cw.read(_columns(X, y), target="y")
                )
                peer = LinearRegression(support_size=range(n_columns + 1), ic_type="bic")
                peer.fit(X, y)
                tables += 1
                names = {f"x{j}" for j in np.flatnonzero(peer.coef_)}
                same += names == set(path.members(path.chosen))
                for k in range(1, 16):
                    few = LinearRegression(support_size=[k]).fit(X, y)
                    left = _residual(X[:, np.flatnonzero(few.coef_)], y)
                    ratio = left / _residual(X[:, [int(m[1:]) for m in path.members(k)]], y) - 1
                    worse += ratio > 1e-9
                    excess = max(excess, ratio)
    yield f"{tables} tables of 300 rows: the same subset by BIC on {same}"
    yield f"{15 * tables} subsets of 1 to 15 columns: abess has a larger sum of squares for {worse}"
    yield f"larger by {excess:.1%} at most"


def _correlated(
    rng: np.random.Generator, n_rows: int, n_columns: int, rho: float
) -> tuple[Floats, Floats]:
    place = np.arange(n_columns)
    half = np.linalg.cholesky(rho ** abs(place[:, None] - place))
    X = rng.normal(size=(n_rows, n_columns)) @ half.T
    effects = np.zeros(n_columns)
    effects[rng.choice(n_columns, 10, replace=False)] = rng.normal(size=10)
    return X, X @ effects + 2 * rng.normal(size=n_rows)


def _columns(X: Floats, y: Floats) -> dict[str, Floats]:
    return {**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "y": y}


def _residual(X: Floats, y: Floats) -> float:
    design = np.column_stack([np.ones(len(y)), X])
    return float(np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2))


# docs/background/intervals.md


def hold_out(size: Size) -> Iterator[str]:
    """How often the hold-out intervals of tables in parts hold the risk of the fits they judge."""
    for grouped in (False, True):
        held: dict[str, list[bool]] = {"linear model": [], "tree": [], "their difference": []}
        for seed in range(size.of(100)):
            rng = np.random.default_rng([seed, grouped])
            frame = _rows(rng, 1500, grouped=grouped)
            parts: Any = cw.scan(
                [frame[:800], frame[800:]],
                target="y",
                **({"group": "who"} if grouped else {"ignore": ["who"]}),
            )
            learners = {"ols": cw.learner("ols"), "tree": cw.learner("tree")}
            bench = cw.benchmark(parts, learners, tune=0, seed=seed)
            training = split_parts(parts, 0.2, seed=seed).train.to_table()
            new = _rows(rng, 60_000, grouped=grouped)
            risks = []
            for name, learner in learners.items():
                again = learner.fit(training).predict(new)
                risks.append(float(np.mean((again - new["y"]) ** 2)))
                of = "linear model" if name == "ols" else name
                held[of].append(bench[name].low <= risks[-1] <= bench[name].high)
            between = bench.compare("ols", "tree")
            difference = risks[0] - risks[1]
            held["their difference"].append(between.low <= difference <= between.high)
        rows = "groups of five rows" if grouped else "independent rows"
        for of, hits in held.items():
            yield f"{len(hits)} tables of 1,500 {rows}, {of}: {_share(hits)}"


def _rows(rng: np.random.Generator, n: int, *, grouped: bool) -> pd.DataFrame:
    """Draw rows of four columns; those of a group have an effect in common."""
    x = rng.random((n, 4))
    who = np.arange(n) // 5
    common = rng.normal(size=n // 5)[who] if grouped else np.zeros(n)
    y = 2 * x[:, 0] + np.sin(6 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.5 * common
    columns = {name: x[:, k] for k, name in enumerate("abcd")}
    return pd.DataFrame({**columns, "who": [f"p{k}" for k in who], "y": y + rng.normal(size=n)})


# docs/background/effects.md


def drawn_rows(size: Size) -> Iterator[str]:
    """How often bands of effects over some rows hold the effect over all rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    X[:, 1] += 0.7 * X[:, 0]
    X[:, 2] = np.round(np.exp(X[:, 2]), 1)

    def score(rows: Any) -> Any:
        return rows[:, 0] + rows[:, 1] * rows[:, 2] / 2

    models: dict[str, Callable[[Any], Any]] = {
        "a probability": lambda rows: expit(score(rows)),
        "very skewed": lambda rows: np.exp(np.clip(score(rows), -6, 6)),
    }
    kinds: tuple[Literal["pdp", "supported_pdp", "ale", "marginal"], ...]
    kinds = ("pdp", "supported_pdp", "ale", "marginal")
    for title, model in models.items():
        why = cw.explain(model, X)
        for kind in kinds:
            every = why.effect("x0", kind=kind, sample=None, points=12, n_bootstrap=0)
            shares = []
            for seed in range(size.of(80)):
                some = why.effect(
                    "x0",
                    kind=kind,
                    sample=500,
                    points=12,
                    n_bootstrap=200,
                    seed=seed,
                    confidence=0.9,
                )
                assert some.low is not None
                assert some.high is not None
                inside = (some.low <= every.values) & (every.values <= some.high)
                shares.append(float(np.mean(inside)))
            yield f"{title}, {kind}, 500 of 20,000 rows, {len(shares)} draws: {_share(shares)}"


# docs/background/insurance.md


def exposure(size: Size) -> Iterator[str]:
    """Years as exposure or as a feature: excess deviance, and what short policies are given."""
    truth = cw.datasets.insurance_truth()
    learners = {
        "glm": cw.learner("glm"),
        "gbm": cw.learner("gbm", max_leaf_nodes=8, learning_rate=0.05),
    }
    new = cw.datasets.insurance(20_000, seed=999)
    years = np.asarray(new["years"].values, dtype=float)
    mean = years * truth.mean(new)
    short = years <= 0.25
    for name, learner in learners.items():
        for role in ("exposure", "feature"):
            excess, share = [], []
            for seed in range(size.of(5)):
                policies = cw.datasets.insurance(5000, seed=seed)
                if role == "feature":
                    policies = cw.read(
                        policies.to_frame(), target="accidents", ignore=["claim_amount"]
                    )
                model = learner.fit(policies)
                predicted = np.asarray(model.predict(new.to_frame()), dtype=float)
                if role == "exposure":
                    predicted = predicted * years
                excess.append(2 * np.mean(mean * np.log(mean / predicted) - mean + predicted))
                share.append(predicted[short].sum() / mean[short].sum())
            yield (
                f"{name}, years as {role}: excess deviance {np.mean(excess):.3g} ± "
                f"{np.std(excess) / np.sqrt(len(excess)):.1g}, short policies {np.mean(share):.1%} "
                f"± {np.std(share) / np.sqrt(len(share)):.1%}"
            )


# docs/models/scorecard.md


def card(size: Size) -> Iterator[str]:
    """A scorecard of German credit beside optbinning's, out of fold."""
    if not SHARED.is_dir():
        yield "German credit is not part of the project"
        return
    from sklearn.metrics import log_loss, roc_auc_score

    frame = pd.read_csv(SHARED / "german_credit.csv")
    target = "credit_risk"
    names = np.unique(frame[target])
    y = (frame[target] == names[-1]).to_numpy(int)
    X = frame.drop(columns=target)
    found: dict[str, list[tuple[float, float]]] = {}
    for repeat in range(1 if size.quick else 3):
        for fold in KFold(5).splits(len(y), y=y, seed=repeat):
            train, test = fold.train, fold.test
            model = cw.learner("scorecard").fit(X.iloc[train], frame[target].iloc[train])
            predicted = {"scorecard": model.predict_proba(X.iloc[test])[:, 1]}
            predicted |= _optbinning(X, y, train, test)
            for name, p in predicted.items():
                one = (float(roc_auc_score(y[test], p)), float(log_loss(y[test], p)))
                found.setdefault(name, []).append(one)
    for name, pairs in found.items():
        auc, loss = np.mean(pairs, axis=0)
        yield f"{name}, {len(pairs)} folds: AUC {auc:.3f}, log loss {loss:.3f}"


def _optbinning(X: pd.DataFrame, y: Any, train: Any, test: Any) -> dict[str, Floats]:
    try:
        from optbinning import BinningProcess
    except ModuleNotFoundError:
        return {}
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    binning = BinningProcess(list(X), categorical_variables=words)
    peer = make_pipeline(binning, LogisticRegression(max_iter=1000))
    peer.fit(X.iloc[train], y[train])
    return {"optbinning": peer.predict_proba(X.iloc[test])[:, 1]}


# docs/models/local.md


def bandwidth(size: Size) -> Iterator[str]:
    """The bandwidth of miles per gallon by weight, beside statsmodels' search."""
    del size
    if not SHARED.is_dir():
        yield "mpg is not part of the project"
        return
    from statsmodels.nonparametric.kernel_regression import KernelReg

    frame = pd.read_csv(SHARED / "mpg.csv")
    x, y = frame["weight"].to_numpy(float), frame["mpg"].to_numpy(float)
    model = cw.learner("local").fit(frame[["weight"]], y)
    peer = KernelReg(y, x, "c", reg_type="ll", bw="cv_ls")
    for name, width in (
        ("clearwood", float(model.estimator_.bandwidth_[0] * x.std())),
        ("statsmodels", float(peer.bw[0])),
    ):
        yield f"{name}: {width:.0f} pounds, error of rows left out {_left_out(x, y, width):.4f}"


def _left_out(x: Floats, y: Floats, width: float) -> float:
    """Return the mean squared error of local lines at rows that they leave out."""
    errors = []
    for k in range(len(x)):
        weight = np.exp(-0.5 * ((x - x[k]) / width) ** 2)
        weight[k] = 0.0
        root = np.sqrt(weight)
        design = np.column_stack([np.ones(len(x)), x - x[k]])
        line = np.linalg.lstsq(root[:, None] * design, root * y, rcond=None)[0]
        errors.append((y[k] - line[0]) ** 2)
    return float(np.mean(errors))


# docs/background/model-files.md


def files(size: Size) -> Iterator[str]:
    """Sizes of model files, beside joblib's."""
    import joblib
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(5000, n_features=10, noise=1.0, random_state=0)
    models = {
        "gbm, 150 trees": cw.learner("gbm", max_iter=150),
        "lightgbm, 150 trees": cw.learner("lightgbm", n_estimators=150),
        "forest, 300 trees of at least 20 rows a leaf": cw.learner(
            "forest", n_estimators=300, min_samples_leaf=20
        ),
    }
    if not size.quick:
        models["forest, 300 full trees"] = cw.learner(
            "forest", n_estimators=300, min_samples_leaf=1
        )
    with tempfile.TemporaryDirectory() as folder:
        for name, learner in models.items():
            model = learner.fit(X, y)
            ours, plain, packed = (Path(folder) / f"model.{end}" for end in ("cw", "joblib", "z"))
            cw.save(model, ours, force=True)
            joblib.dump(model, plain)
            joblib.dump(model, packed, compress=("zlib", 3))
            sizes = [file.stat().st_size / 1e6 for file in (ours, plain, packed)]
            yield "{}: {:.2g} MB, joblib {:.2g}, joblib with zlib {:.2g}".format(name, *sizes)


#: Name of a figure → what prints it.
FIGURES: dict[str, Callable[[Size], Iterator[str]]] = {
    "split": split,
    "noise": noise,
    "splicing": splicing,
    "hold-out": hold_out,
    "drawn-rows": drawn_rows,
    "exposure": exposure,
    "card": card,
    "bandwidth": bandwidth,
    "files": files,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help=f"{', '.join(FIGURES)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="few draws, for a first look")
    options = parser.parse_args()
    names = options.name or list(FIGURES)
    for name in names:
        if name not in FIGURES:
            parser.error(f"no figure {name!r}; {did_you_mean(name, FIGURES)}")
    (ROOT / "artefacts").mkdir(exist_ok=True)
    _printed(names, quick=options.quick, path=ROOT / "artefacts" / "bench-docs.json")


if __name__ == "__main__":
    main()
