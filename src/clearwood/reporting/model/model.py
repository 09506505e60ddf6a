"""A model that the page's script can compute with: what-ifs and Shapley values without Python."""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from clearwood._shared.errors import InputError
from clearwood.explanation import Explained, NotDecomposableError
from clearwood.explanation.adapter.supported import name_of
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.game import Game, checked_weights
from clearwood.explanation.games.terms import TermsGame
from clearwood.explanation.games.trees import TreeGame
from clearwood.forest.links import inverse
from clearwood.reporting.model.columns import Asked, NotCarriedError, mixed_rows
from clearwood.reporting.model.forest import forest_in_page
from clearwood.reporting.model.sums import sum_in_page
from clearwood.reporting.model.tables import tables_in_page
from clearwood.reporting.page.pack import plain_numbers
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.reporting.collect.findings import Findings

__all__ = ["PageModel", "carried_model", "page_model"]

Floats = NDArray[np.float64]

#: What a model may weigh on the page, in characters.
MOST_CHARACTERS = 1_000_000
_CHECKED_ROWS = 200


@dataclass(frozen=True, eq=False)
class PageModel:
    """What the page's script needs to predict and to share predictions among columns.

    Parameters
    ----------
    data
        Ready for JSON; None where the model is not carried.
    reason
        Why it is not, for the reader of the page; empty where it is.
    columns
        The user's columns in the order of ``data["columns"]``: the players.
    """

    data: Mapping[str, Any] | None = field(repr=False)
    reason: str = ""
    columns: tuple[str, ...] = ()


_CARRIED: "WeakKeyDictionary[Findings, PageModel]" = WeakKeyDictionary()


def carried_model(findings: "Findings") -> PageModel:
    """Give the page's model of some findings; several chapters ask, and it is made once."""
    if findings not in _CARRIED:
        _CARRIED[findings] = page_model(findings.model, findings.sample, seed=findings.options.seed)
    return _CARRIED[findings]


def page_model(
    model: Any, sample: Table, *, most_characters: int = MOST_CHARACTERS, seed: int = 0
) -> PageModel:
    """Give a model as plain data that the page's script computes with.

    Forests and models that add up functions of one or two columns are carried, whole: nothing is
    thinned or rounded. What the page would compute is compared with the model on the page's rows
    and on rows put together at random; where it differs, or where the model would weigh too much,
    it is not carried and the reason is given instead.

    Parameters
    ----------
    model
        Anything that `clearwood.explain` takes.
    sample
        The page's rows: the background of its Shapley values.
    most_characters
        What the model may weigh.
    seed
        Of the rows put together at random.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> page_model(cw.learner("gbm", max_iter=5).fit(data), data).data["kind"]
    'forest'
    >>> page_model(cw.learner("knn").fit(data), data).reason
    "learner 'knn' is neither a sum over trees nor a sum of functions of one or two columns"
    """
    try:
        explained = Explained(model, sample)
        game = explained.game
    except InputError as error:
        return PageModel(None, _why_not(model, error))
    asked = Asked(game, sample)
    try:
        _refuse_huge(game, most_characters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd about made-up rows is nobody's concern
            made = _made(model, asked, seed)
            made |= _about(model, asked, seed)
        weight = len(json.dumps(made, separators=(",", ":")))
        if weight > most_characters:
            return PageModel(None, _too_large(game, weight, most_characters))
    except NotCarriedError as error:
        return PageModel(None, str(error))
    except InputError as error:
        return PageModel(None, str(error.message))
    return PageModel(made, columns=tuple(column.name for column in asked.columns))


def _why_not(model: Any, error: InputError) -> str:
    if not isinstance(error, NotDecomposableError):
        return str(error.message)
    is_function = callable(model) and not hasattr(model, "predict")
    name = "a function" if is_function else name_of(model)
    return f"{name} is neither a sum over trees nor a sum of functions of one or two columns"


def _too_large(game: Game, weight: int, most: int) -> str:
    size = ""
    if isinstance(game, TreeGame):
        size = f" ({game.forest.n_trees:,} trees, {game.forest.n_leaves:,} leaves)"
    return (
        f"the model{size} would weigh {weight / 1e6:.1f} MB on the page, more than the "
        f"{most / 1e6:.1f} MB it may"
    )


def _refuse_huge(game: Game, most: int) -> None:
    """Refuse forests that cannot fit before any time is spent on packing them."""
    if isinstance(game, TreeGame) and game.forest.n_nodes * 4 / 3 > most:
        # a node takes one to four bytes and a leaf one to eight, all of them four thirds as text
        about = (2 * game.forest.n_nodes + 6 * game.forest.n_leaves) * 4 / 3
        raise NotCarriedError(_too_large(game, int(about), most))


def _made(model: Any, asked: Asked, seed: int) -> dict[str, Any]:
    if isinstance(asked.game, TreeGame):
        return forest_in_page(model, asked, seed=seed)
    if isinstance(asked.game, AdditiveGame):
        return sum_in_page(asked, model=model, seed=seed)
    if isinstance(asked.game, TermsGame):
        return tables_in_page(asked, model=model, seed=seed)
    raise NotCarriedError("the model is neither a sum over trees nor one of functions of columns")


def _about(model: Any, asked: Asked, seed: int) -> dict[str, Any]:
    """Find what turns the sum into the prediction, and what the sum is over the page's rows."""
    game = asked.game
    rows = game.rows(asked.table)
    weights = checked_weights(rows.weights, len(rows))
    link, outputs, shown = _link(model, asked, seed)
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


def _link(model: Any, asked: Asked, seed: int) -> tuple[dict[str, Any], list[str], list[int]]:
    """Find the link by which raw predictions become what the model itself answers."""
    tables = (asked.table, mixed_rows(asked, _CHECKED_ROWS, seed))
    raw = np.concatenate([asked.game.predict(asked.game.rows(table)) for table in tables])
    answers = []
    for table in tables:
        predictor = Explained(model, table).predictor()
        answers.append(predictor.predict(np.arange(table.n_rows)))
    answer = np.concatenate(answers)
    outputs = list(predictor.outputs)
    size = np.maximum(np.abs(answer), answer.std(axis=0))
    for link in _candidates(model, asked.game):
        found = _linked(link, raw)
        for pick in _picks(found.shape[1], answer.shape[1]):
            # libraries that add up in single precision are off by some of its last digits
            if (np.abs(found[:, pick] - answer) <= 2e-6 * size + 1e-12).all():
                shown = pick if raw.shape[1] == found.shape[1] else [0] * len(pick)
                return {**link, "pick": pick}, outputs, shown
    raise NotCarriedError(
        f"the page cannot make the prediction from what the model adds up (its {asked.game.unit})"
    )


def _candidates(model: Any, game: Game) -> list[dict[str, Any]]:
    if isinstance(game, TreeGame):
        name, temperature = game.forest.link, game.forest.temperature
        return [{"name": name, "temperature": float(temperature)}]
    names = ("identity", "log", "logistic", "softmax", "one-vs-rest")
    found: list[dict[str, Any]] = [{"name": name, "temperature": 1.0} for name in names]
    inner = getattr(model, "estimator_", model)
    if getattr(inner, "link", None) == "logit" and hasattr(inner, "thresholds_"):
        cuts = plain_numbers(inner.thresholds_)
        found.append({"name": "ordered", "temperature": 1.0, "cuts": cuts})
    return found


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


def _picks(n_found: int, n_wanted: int) -> list[list[int]]:
    """Give the columns that may be the outputs: all, or of two the second."""
    if n_found == n_wanted:
        return [list(range(n_found))]
    return [[n_found - 1]] if n_wanted == 1 else []
