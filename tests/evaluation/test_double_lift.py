"""The advantage of a double lift is the difference of the two losses, as others compute them."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn import metrics

import clearwood as cw

TASKS = ("regression", "count", "amount", "positive amount", "binary", "several classes")
METRICS = {
    "regression": metrics.mean_squared_error,
    "count": metrics.mean_poisson_deviance,
    "amount": lambda y, p, **more: metrics.mean_tweedie_deviance(y, p, power=1.5, **more),
    "positive amount": metrics.mean_gamma_deviance,
}
LABELS = ("a", "b", "c")


def rows_of(task, seed, n=300):
    rng = np.random.default_rng(seed)
    x, years = rng.normal(size=n), rng.uniform(0.2, 3.0, n)
    mean = np.exp(0.4 + 0.7 * x)
    frame = {"x": x.tolist(), "z": rng.normal(size=n).tolist()}
    if task == "regression":
        frame["y"] = (mean + rng.normal(size=n)).tolist()
    elif task == "count":
        frame["y"] = rng.poisson(mean * years).tolist()
    elif task == "amount":
        frame["y"] = (rng.poisson(mean) * rng.gamma(2.0, 1.0, n)).tolist()
    elif task == "positive amount":
        frame["y"] = rng.gamma(2.0, mean / 2).tolist()
    else:
        k = 2 if task == "binary" else 3
        chosen = rng.binomial(k - 1, expit(1.2 * x - 0.5))
        frame["y"] = [LABELS[place] for place in chosen]
    frame["years"], frame["w"] = years.tolist(), rng.uniform(0.5, 4.0, n).tolist()
    # another prediction: any positive number, and for classes up to 1 with a mean far from theirs
    other = 1.6 * np.exp(0.2 + 0.3 * x) if "class" not in task and task != "binary" else None
    frame["other"] = (expit(2.2 * x + 1.4) if other is None else other).tolist()
    return frame


def columns_of(frame, *, weighted, exposed):
    unused = {"other"} | (set() if weighted else {"w"}) | (set() if exposed else {"years"})
    return {key: values for key, values in frame.items() if key not in unused}


def table_of(task, frame, *, weighted, exposed):
    roles = {"weight": "w"} if weighted else {}
    roles |= {"exposure": "years"} if exposed else {}
    kind = {"count": "count", "regression": "regression"}.get(
        task, "amount" if "amount" in task else None
    )
    kept = columns_of(frame, weighted=weighted, exposed=exposed)
    return cw.read(kept, target="y", task=kind, **roles)


def loss_of(task, y, p, w, label="c"):
    """Return the mean loss as scikit-learn computes it."""
    if task in METRICS:
        return METRICS[task](y, p, sample_weight=w)
    member = np.array([value == label for value in y])
    return metrics.log_loss(member, p, sample_weight=w, labels=[False, True])


def moved(task, y, p, w):
    """Return predictions with the observed mean."""
    if task in METRICS:
        return p * np.average(y, weights=w) / np.average(p, weights=w)
    start, mean = logit(p), np.average(y, weights=w)
    shift = brentq(lambda c: np.average(expit(start + c), weights=w) - mean, -30, 30)
    return expit(start + shift)


@pytest.mark.parametrize(
    ("task", "weighted", "exposed"),
    [
        (task, weighted, exposed)
        for task in TASKS
        for weighted in (False, True)
        for exposed in (False, True)
        if not exposed or task in ("count", "amount", "positive amount")
    ],
)
def test_the_advantage_is_the_difference_of_the_losses(task, weighted, exposed):
    train = table_of(task, rows_of(task, 0), weighted=weighted, exposed=exposed)
    name = "logistic" if task not in METRICS else "ols" if task == "regression" else "glm"
    model = cw.learner(name).fit(train)
    frame = rows_of(task, 1)
    if task == "regression":  # a ratio needs positive predictions
        new = columns_of(frame, weighted=weighted, exposed=exposed)
        keep = np.flatnonzero(model.predict(new) > 0.05)
        frame = {key: [values[k] for k in keep] for key, values in frame.items()}
    new = columns_of(frame, weighted=weighted, exposed=exposed)
    result = cw.evaluate(model, {**new, "other": frame["other"]}, against="other")
    y, other = np.array(frame["y"]), np.array(frame["other"])
    label = "b" if task == "binary" else "c"
    w = np.ones(len(y))
    if weighted:
        w = w * np.array(frame["w"])
    if exposed:
        w, y = w * np.array(frame["years"]), y / np.array(frame["years"])
    own = model.predict(new) if task in METRICS else model.predict_proba(new)[:, -1]
    double = result.lift(against="other")
    gain = double.advantage
    expected = loss_of(task, y, other, w, label) - loss_of(task, y, own, w, label)
    assert gain.difference == pytest.approx(expected, rel=1e-9)
    assert gain.low < expected < gain.high
    number = y if task in METRICS else (y == label).astype(float)
    mine, theirs = moved(task, number, own, w), moved(task, number, other, w)
    rescaled = result.lift(against="other", rescale=True)
    expected = loss_of(task, y, theirs, w, label) - loss_of(task, y, mine, w, label)
    assert rescaled.advantage.difference == pytest.approx(expected, rel=1e-7)
    for values, part in ((own, double.predicted), (other, double.other)):
        assert double.weight @ part == pytest.approx(w @ values)
    for part in (rescaled.predicted, rescaled.other):
        assert rescaled.weight @ part == pytest.approx(w @ number)


def test_the_evaluation_keeps_what_was_asked_for():
    model = cw.learner("glm").fit(
        table_of("count", rows_of("count", 0), weighted=False, exposed=True)
    )
    frame = rows_of("count", 1)
    del frame["w"]
    result = cw.evaluate(model, frame, against="other", rescale=True)
    assert result.parts()["double_lift"].advantage.is_rescaled
    assert not result.lift(against="other", rescale=False).advantage.is_rescaled


def test_a_benchmark_has_one_difference_of_two_learners():
    bench = cw.benchmark(cw.datasets.load("breast_cancer"), ["logistic", "lda"], tune=0, repeats=1)
    gain = bench.evaluation("lda", against="logistic").lift(against="logistic").advantage
    gap = bench.compare("logistic", "lda")
    assert (gain.difference, gain.low, gain.high) == (gap.difference, gap.low, gap.high)


def test_another_prediction_of_a_class_is_a_probability():
    frame = rows_of("binary", 1)
    model = cw.learner("logistic").fit(
        table_of("binary", rows_of("binary", 0), weighted=False, exposed=False)
    )
    frame["other"] = [1.5, *frame["other"][1:]]
    del frame["w"], frame["years"]
    with pytest.raises(cw.InputError, match=r"'other' is above 1 in 1 row of 300.*a probability"):
        cw.evaluate(model, frame, against="other")
