"""Bayesian regression: posteriors, evidence, predictive intervals."""

from collections.abc import Iterable, Mapping
from typing import Any

from clearwood._shared.errors import InputError, Setting, bad_value, did_you_mean, words
from clearwood.models.entries.builders import types_in
from clearwood.models.entries.entry import Entry, Job, Real
from clearwood.table import Task

__all__ = ["ENTRIES"]

_OF_NUMBERS = ("noise", "noise_rows")
_OF_CHAINS = ("method", "draws", "chains")


def _bayes(job: Job) -> Any:
    from clearwood.models.catalogue.bayes.estimators import (
        BayesClassifier,
        BayesPoisson,
        BayesRegressor,
    )

    settings = {
        **job.settings,
        "priors": _stated(job),
        "names": tuple(one.name for one in job.encoded),
    }
    if job.task is Task.REGRESSION:
        _check_not_set(job, _OF_CHAINS, "the posterior of a number is exact, so nothing is drawn")
        return BayesRegressor(**{k: v for k, v in settings.items() if k not in _OF_CHAINS})
    _check_not_set(job, _OF_NUMBERS, "noise is of numbers; counts and classes have none of it")
    settings = {k: v for k, v in settings.items() if k not in _OF_NUMBERS}
    kind = BayesClassifier if job.task is Task.BINARY else BayesPoisson
    return kind(random_state=job.seed, **settings)


def _check_not_set(job: Job, names: Iterable[str], why: str) -> None:
    """Refuse settings that do not belong to a task."""
    for name in names:
        value = job.settings[name]
        if value != _DEFAULTS[name]:
            raise InputError(
                words(Setting(name, value), f" is not for the task {job.task.value!r}: {why}"),
                parameter=name,
                value=value,
                hint="leave it out.",
            )


def _stated(job: Job) -> tuple[tuple[int, float, float], ...]:
    """Return the stated priors by position of the encoded columns."""
    stated = []
    for name, mean, deviation in _listed(job.settings["priors"]):
        if not job.encoded:  # columns are not known yet
            continue
        own = [k for k, one in enumerate(job.encoded) if one.source == name]
        if not own:
            known = list(dict.fromkeys(one.source for one in job.encoded))
            raise InputError(
                words(
                    Setting("priors"), f" names {name!r}, which is not a column that the model uses"
                ),
                parameter="priors",
                value=name,
                hint=did_you_mean(str(name), known),
            )
        itself = [k for k in own if job.encoded[k].part is None]
        levels = [k for k in own if job.encoded[k].part is not None and job.encoded[k].levels]
        if not itself and not levels:
            raise InputError(
                words(Setting("priors"), f" names {name!r}, which is a date"),
                parameter="priors",
                value=name,
                hint="priors are for numbers, yes/no columns and categories.",
            )
        if levels and not itself and mean != 0:
            raise InputError(
                words(Setting("priors"), f" has a mean for {name!r}, which is a category"),
                parameter="priors",
                value=mean,
                hint="state one number, the standard deviation of what a level adds.",
            )
        stated += [(k, mean, deviation) for k in itself or levels]
    return tuple(stated)


def _listed(priors: Any) -> list[tuple[str, float, float]]:
    """Return column, mean and standard deviation of each prior, however they are written."""
    if priors is None:
        return []
    if isinstance(priors, Mapping):
        pairs = [(str(name), value) for name, value in priors.items()]
    else:
        texts = priors.split(",") if isinstance(priors, str) else priors
        pairs = [_split(text) for text in texts if not isinstance(text, str) or text.strip()]
    found = []
    for name, value in pairs:
        parts = value if isinstance(value, tuple | list) else (0.0, value)
        try:
            mean, deviation = (float(part) for part in parts)
        except (TypeError, ValueError):
            raise _unreadable(value) from None
        if not 0 < deviation < float("inf") or not abs(mean) < float("inf"):
            raise bad_value(
                "priors",
                value,
                f"the standard deviation of {name!r} must be above 0, and its mean a number",
                kind=Setting,
            )
        found.append((name, mean, deviation))
    return found


def _split(text: Any) -> tuple[str, Any]:
    """Split "column:deviation" or "column:mean:deviation"; a column may have colons itself."""
    if not isinstance(text, str) or ":" not in text:
        raise _unreadable(text)
    name, _, last = text.strip().rpartition(":")
    before, _, mean = name.rpartition(":")
    if before and _is_number(mean):
        return before.strip(), (mean, last)
    return name.strip(), last


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unreadable(value: Any) -> InputError:
    return bad_value(
        "priors",
        value,
        "a prior is a standard deviation, or a mean and a standard deviation",
        hint=words(
            "write ", Setting("priors", "age:0.1"), " or ", Setting("priors", "age:0.05:0.1"), "."
        ),
        kind=Setting,
    )


_DEFAULTS: dict[str, Any] = {
    "scale": None,
    "priors": None,
    "noise": None,
    "noise_rows": 1.0,
    "method": "laplace",
    "draws": 1_000,
    "chains": 4,
}

ENTRIES = (
    Entry(
        name="bayes",
        title="Bayesian linear, logistic or Poisson regression, with a posterior",
        family="linear",
        tasks=frozenset({Task.REGRESSION, Task.COUNT, Task.BINARY}),
        reading="glass box",
        source="clearwood BayesRegressor, BayesClassifier, BayesPoisson (conjugate; Laplace or "
        "Hamiltonian Monte Carlo written here, as libraries for it are heavy; nutpie on request)",
        described_in="Gelman and others (2013), 14 and 16",
        loss="negative log-likelihood + Σ (β − prior mean)² / (2 · prior variance)",
        estimates="mean; probability: at the posterior mean, or mode, of the coefficients",
        advice="Take it where it matters how sure a prediction is, where rows are few, or where "
        "something is known beforehand: priors are stated in the units of the columns, "
        "coefficients have posterior intervals next to their priors, and predictions have "
        "intervals. It does not fail where a column separates the classes. Without knowledge of "
        "your own it predicts like 'ridge'; for curves take 'gam'. The method mcmc draws from the "
        "posterior instead of approximating it, which matters where rows or events are few.",
        reads="The table of coefficients has the posterior mean and interval of each next to its "
        "prior (cw.coefficients; clearwood explain coefficients); effects have posterior bands, "
        "and predict_interval gives intervals of single rows.",
        build=_bayes,
        saved_types=types_in(__name__, estimators="BayesClassifier BayesPoisson BayesRegressor"),
        defaults=_DEFAULTS,
        space={"scale": Real(0.01, 2.5, log=True)},
        complexity=2,
        page="bayes",
    ),
)
