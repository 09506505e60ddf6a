"""Answers of about 100 calls, to compare before and after the code is moved around.

Every public function is called for each task and kind of model that it takes: a learner, a model
of scikit-learn, XGBoost and LightGBM, a function, and a model that was saved and loaded. Results
are their own JSON, so equal files mean equal answers to the bit.

usage: python tools/answers.py write FILE
       python tools/answers.py compare OLD NEW
"""

import json
import math
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import clearwood as cw

N_ROWS = 240
#: Parts of results that differ from run to run: times and what prints them, versions, places.
NOISE = {
    "text",
    "seconds",
    "time",
    "fit_seconds",
    "created",
    "version",
    "versions",
    "path",
    "folder",
    "sha256",
}


def table(task: str, n_rows: int = N_ROWS) -> Any:
    """Simulate a table of numbers, levels and gaps for a task."""
    rng = np.random.default_rng(7)
    age = rng.integers(18, 80, n_rows).astype(float)
    power = np.round(rng.gamma(3.0, 2.0, n_rows), 2)
    power[rng.random(n_rows) < 0.05] = np.nan
    region = rng.choice(["north", "south", "west"], n_rows)
    sex = rng.choice(["f", "m"], n_rows)
    score = 0.03 * (age - 45) + 0.1 * np.nan_to_num(power, nan=6.0) + 0.6 * (region == "south")
    years = rng.uniform(0.2, 1.5, n_rows)
    noise = rng.normal(0, 0.5, n_rows)
    columns = {"age": age, "power": power, "region": region, "sex": sex}
    options: dict[str, Any] = {"target": "y", "task": task, "protected": ["sex"]}
    if task == "count":
        columns["years"] = years
        options["exposure"] = "years"
        columns["y"] = rng.poisson(np.exp(score - 1.5) * years)
    elif task == "amount":
        columns["y"] = np.exp(score) * rng.gamma(2.0, 0.5, n_rows)
    elif task == "binary":
        columns["y"] = np.where(score + noise > 0.6, "yes", "no")
    elif task == "multiclass":
        columns["y"] = np.array(["low", "mid", "high"])[np.digitize(score + noise, [0.3, 1.0])]
    else:
        columns["y"] = score + noise
    return cw.read(columns, **options)


LEARNERS = {
    "regression": ("ridge", "gbm", "gam"),
    "count": ("glm", "gbm", "glass"),
    "amount": ("glm", "gbm"),
    "binary": ("logistic", "gbm", "forest"),
    "multiclass": ("logistic", "tree"),
}
SMALL: dict[str, dict[str, Any]] = {
    "gbm": {"max_iter": 8, "max_depth": 2},
    "forest": {"n_estimators": 5, "max_depth": 3},
    "glass": {"max_rounds": 60},
}


def fitted(name: str, data: Any) -> Any:
    """Fit a learner with small settings, leaving out those that it does not have."""
    try:
        return cw.learner(name, **SMALL.get(name, {})).fit(data)
    except cw.InputError:
        return cw.learner(name).fit(data)


def foreign(task: str) -> Iterator[tuple[str, Any, Any]]:
    """Fit models of other libraries, and a function, to a matrix without gaps."""
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from xgboost import XGBClassifier, XGBRegressor

    rng = np.random.default_rng(3)
    x = rng.normal(size=(N_ROWS, 4))
    score = x[:, 0] + x[:, 1] * x[:, 2]
    classes = task != "regression"
    y = (score > 0).astype(int) if classes else score
    makers = {
        "scikit-learn": RandomForestClassifier if classes else RandomForestRegressor,
        "xgboost": XGBClassifier if classes else XGBRegressor,
        "lightgbm": LGBMClassifier if classes else LGBMRegressor,
    }
    quiet = {"lightgbm": {"verbose": -1}}
    for name, make in makers.items():
        model = make(n_estimators=6, max_depth=3, random_state=0, **quiet.get(name, {}))
        yield name, model.fit(x, y), x
    yield "function", lambda rows: np.asarray(rows)[:, 0] * 2 + np.asarray(rows)[:, 1], x


def questions(model: Any, data: Any, column: str) -> dict[str, Callable[[], Any]]:
    """Return the questions that any model can be asked."""
    rows = data.head(3) if hasattr(data, "head") else data[:3]
    why = cw.explain(model, data)
    return {
        "explain": lambda: why.decomposition,
        "effect": lambda: cw.effect(model, data, column),
        "importance": lambda: cw.importance(model, data),
        "shapley": lambda: cw.shapley(model, data, rows),
        "lime": lambda: cw.lime(model, data, rows[:1], seed=0),
        "contributions": lambda: cw.contributions(model, data),
        "agreement": lambda: cw.agreement(model, data),
    }


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every call with its name."""
    for task, learners in LEARNERS.items():
        data = table(task)
        for name in learners:
            model = fitted(name, data)
            for question, ask in questions(model, data, "age").items():
                yield f"{question} {task} {name}", ask
            yield f"predict {task} {name}", lambda m=model, d=data: m.predict(d)
            yield f"evaluate {task} {name}", lambda m=model, d=data: cw.evaluate(m, d)
            yield f"monotone {task} {name}", lambda m=model, d=data: cw.monotone(m, d)
            yield f"factors {task} {name}", lambda m=model, d=data: cw.factors(m, d)
            yield f"audit {task} {name}", lambda m=model, d=data: cw.audit(m, d)
            yield f"fair {task} {name}", lambda m=model, d=data: cw.fair(m, d).predict(d)
            yield f"direct_effect {task} {name}", lambda m=model, d=data: cw.direct_effect(m, d)
            yield f"file {task} {name}", lambda m=model, d=data: _through_a_file(m).predict(d)
        yield (
            f"benchmark {task}",
            lambda d=data, n=learners: cw.benchmark(
                d, ["baseline", n[0]], tune=0, interval="naive", seed=1
            ),
        )
        linear = fitted(learners[0], data)
        yield f"coefficients {task}", lambda m=linear, d=data: cw.coefficients(m, d)
        tree = fitted("gbm", data)
        yield f"condense {task}", lambda m=tree: cw.condense(m, effort="fast")
    for task in ("regression", "binary"):
        for name, model, x in foreign(task):
            if name == "function" and task != "regression":
                continue
            for question, ask in questions(model, x, "x0").items():
                yield f"{question} {task} {name}", ask


def _through_a_file(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cw"
        cw.save(model, path)
        return cw.load(path)


def answer(ask: Callable[[], Any]) -> Any:
    """Return what a call gives as plain values, or the words of its error."""
    try:
        result = ask()
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}
    if hasattr(result, "to_json"):
        return plain(result.to_json())
    return plain(result)


def plain(value: Any) -> Any:
    """Return arrays as lists and leave out what differs from run to run."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items() if k not in NOISE}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float | int | str | bool | type(None)):
        return value
    return str(value)


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield each place in which two answers differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in old or key not in new:
                yield f"{where}/{key}: only in the {'old' if key in old else 'new'} answers"
            else:
                yield from differences(old[key], new[key], f"{where}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differences(a, b, f"{where}/{i}")
    elif old != new and not _both_nan(old, new):
        yield f"{where}: {str(old)[:60]} is now {str(new)[:60]}"


def _both_nan(a: Any, b: Any) -> bool:
    return isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)


def main() -> int:
    """Write answers, or compare two files of them."""
    match sys.argv[1:]:
        case ["write", file]:
            warnings.simplefilter("ignore")
            answers = {}
            for name, ask in calls():
                answers[name] = answer(ask)
                mark = (
                    " (an error)"
                    if isinstance(answers[name], dict) and "error" in answers[name]
                    else ""
                )
                print(f"{len(answers):4} {name}{mark}", file=sys.stderr)
            Path(file).write_text(json.dumps(answers, indent=1, sort_keys=True), encoding="utf-8")
            return 0
        case ["compare", old, new]:
            before, after = (json.loads(Path(p).read_text(encoding="utf-8")) for p in (old, new))
            found = list(differences(before, after))
            print("\n".join(found[:200]) or f"{len(after)} answers are equal")
            return bool(found)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
