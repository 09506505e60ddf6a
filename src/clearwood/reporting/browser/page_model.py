"""A model that the page's script can compute with: what-ifs and Shapley values without Python."""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import size
from clearwood._shared.weights import checked_weights
from clearwood.explanation import (
    AdditiveGame,
    Explanation,
    Game,
    NotDecomposableError,
    ProductGame,
    SumGame,
    TermsGame,
    TreeGame,
    as_additive,
)
from clearwood.forest import inverse
from clearwood.reporting.browser.columns import NotCarriedError, Probe, mixed_rows
from clearwood.reporting.browser.forest import forest_in_page
from clearwood.reporting.browser.sums import sum_in_page
from clearwood.reporting.browser.tables import tables_in_page
from clearwood.reporting.page.pack import plain_numbers
from clearwood.table import Table

__all__ = ["PageModel", "page_model"]

#: What a model may weigh on the page, in characters.
MOST_CHARACTERS = 1_000_000
_CHECKED_ROWS = 200
_PRODUCTS = "it adds up products of curves, or curves and trees"
_NO_SUM = "it is neither a sum over trees nor a sum of functions of one or two columns"


@dataclass(frozen=True, eq=False)
class PageModel:
    """What the page's script needs to predict and to share predictions among columns."""

    #: Ready for JSON; None if the model is not carried, and then there is a reason.
    data: Mapping[str, Any] | None = field(repr=False)
    reason: str = ""
    #: The user's columns in the order of ``data["columns"]``: the players.
    columns: tuple[str, ...] = ()
    #: For a forest: the model's own columns of the page's rows, and which of them it uses.
    codes: Floats | None = field(default=None, repr=False)
    used: Index | None = field(default=None, repr=False)


def page_model(
    explanation: Explanation,
    sample: Table,
    *,
    most_characters: int = MOST_CHARACTERS,
    seed: int = 0,
) -> PageModel:
    """Return a model as plain data that the page's script computes with.

    Forests and models that add up functions of one or two columns are carried, whole: nothing is
    thinned or rounded. What the page would compute is compared with the model on the page's rows
    and on rows put together at random; if it differs, or if the model would weigh too much, it is
    not carried and the reason is given instead. The page's rows are the background of its Shapley
    values.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> gbm = cw.learner("gbm", max_iter=5).fit(data)
    >>> page_model(cw.explain(gbm, data), data).data["kind"]
    'forest'
    >>> page_model(cw.Explanation(cw.learner("knn").fit(data), data), data).reason
    'it is neither a sum over trees nor a sum of functions of one or two columns'
    """
    try:
        game = explanation.on(sample).game
        probe = Probe(as_additive(game) or game, sample)
        _refuse_huge(probe.game, most_characters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows put together at random may well be odd
            data = _model_data(explanation, probe, seed)
            data |= _prediction_data(explanation, probe, seed)
        weight = len(json.dumps(data, separators=(",", ":")))
        if weight > most_characters:
            return PageModel(None, _too_large(probe.game, weight, most_characters))
    except NotDecomposableError:
        return PageModel(None, _NO_SUM)
    except NotCarriedError as error:
        return PageModel(None, str(error))
    except InputError as error:
        return PageModel(None, str(error.message))
    columns = tuple(column.name for column in probe.columns)
    if not isinstance(probe.game, TreeGame):
        return PageModel(data, columns=columns)
    used = probe.game.forest.features_used.astype(np.intp)
    return PageModel(data, columns=columns, codes=probe.of(sample), used=used)


def _too_large(game: Game, weight: int, most: int) -> str:
    trees = ""
    if isinstance(game, TreeGame):
        trees = f" ({game.forest.n_trees:,} trees, {game.forest.n_leaves:,} leaves)"
    return (
        f"the model{trees} would take {size(weight)} of the page, and at most {size(most)} is "
        "carried"
    )


def _refuse_huge(game: Game, most: int) -> None:
    """Refuse forests that cannot fit before any time is spent on packing them."""
    if isinstance(game, TreeGame) and game.forest.n_nodes * 4 / 3 > most:
        # a node takes one to four bytes and a leaf one to eight, all of them four thirds as text
        about = (2 * game.forest.n_nodes + 6 * game.forest.n_leaves) * 4 / 3
        raise NotCarriedError(_too_large(game, int(about), most))


def _model_data(explanation: Explanation, probe: Probe, seed: int) -> dict[str, Any]:
    if isinstance(probe.game, TreeGame):
        forest = explanation.forest or probe.game.imported
        is_float32 = forest.accumulate == "float32"
        return forest_in_page(probe, is_float32=is_float32, seed=seed)
    if isinstance(probe.game, AdditiveGame):
        return sum_in_page(probe, model=explanation.model, seed=seed)
    if isinstance(probe.game, TermsGame):
        return tables_in_page(probe, model=explanation.model, seed=seed)
    if isinstance(probe.game, ProductGame | SumGame):
        raise NotCarriedError(_PRODUCTS)
    raise NotCarriedError(_NO_SUM)


def _prediction_data(explanation: Explanation, probe: Probe, seed: int) -> dict[str, Any]:
    """Find what turns the sum into the prediction, and what the sum is over the page's rows."""
    game = probe.game
    rows = game.rows(probe.table)
    weights = checked_weights(rows.weights, len(rows))
    link, outputs, shown = _link(explanation, probe, seed)
    return {
        "names": list(game.columns),
        "raw_outputs": list(game.outputs),
        "unit": str(game.unit),
        "link": link,
        "outputs": outputs,
        "shown": shown,
        "baseline": plain_numbers(game.bind(rows, weights).baseline),
        "weights": None if weights is None else plain_numbers(weights / weights.sum()),
    }


def _link(
    explanation: Explanation, probe: Probe, seed: int
) -> tuple[dict[str, Any], list[str], list[int]]:
    """Find the link by which raw predictions become what the model itself predicts."""
    tables = (probe.table, mixed_rows(probe, _CHECKED_ROWS, seed))
    raw = np.concatenate([probe.game.predict(probe.game.rows(table)) for table in tables])
    predictors = [explanation.on(table).predictor() for table in tables]
    expected = np.concatenate([p.predict(np.arange(len(p))) for p in predictors])
    outputs = list(predictors[0].outputs)
    scale = np.maximum(np.abs(expected), expected.std(axis=0))
    for link in _candidates(explanation.model, probe.game):
        linked = _linked(link, raw)
        for pick in _picks(linked.shape[1], expected.shape[1], link.get("ranks")):
            # libraries that add up in single precision are off by some of its last digits
            if (np.abs(linked[:, pick] - expected) <= 2e-6 * scale + 1e-12).all():
                shown = pick if raw.shape[1] == linked.shape[1] else [0] * len(pick)
                carried = {key: value for key, value in link.items() if key != "ranks"}
                return {**carried, "pick": pick}, outputs, shown
    raise NotCarriedError(
        f"its prediction is not a known function of what it adds up ({probe.game.unit})"
    )


def _candidates(model: Any, game: Game) -> list[dict[str, Any]]:
    if isinstance(game, TreeGame) and (
        game.forest.link != "identity" or game.forest.temperature != 1
    ):
        name, temperature = game.forest.link, game.forest.temperature
        return [{"name": name, "temperature": float(temperature)}]
    # a sum of forests has no link of its own, and the model may put one behind it
    names = ("identity", "log", "logistic", "softmax", "one-vs-rest")
    candidates: list[dict[str, Any]] = [{"name": name, "temperature": 1.0} for name in names]
    inner = getattr(model, "estimator_", model)
    if getattr(inner, "link", None) == "logit" and hasattr(inner, "thresholds_"):
        cuts = plain_numbers(inner.thresholds_)
        ordered = {"name": "ordered", "temperature": 1.0, "cuts": cuts}
        if inner.order is not None:
            ordered["ranks"] = np.argsort(inner.order).tolist()
        candidates.append(ordered)
    return candidates


def _linked(link: Mapping[str, Any], raw: Floats) -> Floats:
    scaled = raw / link["temperature"]
    more: dict[str, Callable[[Floats], Floats]] = {
        "softmax": lambda x: np.asarray(softmax(x, axis=1)),
        "one-vs-rest": lambda x: np.asarray(expit(x) / expit(x).sum(axis=1, keepdims=True)),
        "ordered": lambda x: np.diff(expit(np.array(link["cuts"]) - x), prepend=0, append=1),
    }
    with np.errstate(over="ignore", invalid="ignore"):
        if link["name"] in more:
            return more[link["name"]](scaled)
        return np.asarray(inverse(link["name"], scaled))


def _picks(n_linked: int, n_wanted: int, ranks: list[int] | None) -> list[list[int]]:
    """Return the columns that may be the outputs: all, or of two the second."""
    if n_linked == n_wanted:
        return [ranks or list(range(n_linked))]
    return [[n_linked - 1]] if n_wanted == 1 else []
