"""From a fitted model to the game that explains it."""

from typing import Any

from clearwood import forest as forests
from clearwood._shared.errors import InputError
from clearwood.explanation.adapter.supported import EXPLAINED, is_pipeline, unsupported
from clearwood.explanation.games.game import Game
from clearwood.explanation.games.of_encoded import learner_players, of_encoded
from clearwood.explanation.games.of_sums import of_matrix, of_sheets
from clearwood.explanation.games.of_trees import of_forest
from clearwood.explanation.games.scores import score_of
from clearwood.forest import Forest

__all__ = ["EXPLAINED", "game_of", "learner_players"]


def game_of(model: Any, data: Any = None) -> Game:
    """Find out what a model is made of.

    Parameters
    ----------
    model
        Anything that `cw.explain` takes.
    data
        Background rows; additive pipelines need some to look at.

    Returns
    -------
    Game
    """
    model = _bare(model)
    if hasattr(model, "encoder_") and hasattr(model, "schema_"):
        return of_encoded(model)
    if isinstance(model, Forest) or (forests.supports(model) and _ends_in_trees(model)):
        return of_forest(forests.from_model(model))
    score = score_of(model)
    if score is None:
        raise unsupported(model)
    if is_pipeline(model):
        return of_sheets(model, score, data)
    return of_matrix(model, score)


def _bare(model: Any) -> Any:
    """Check that it is a fitted model, and take it out of a search that found it."""
    if isinstance(model, type):
        raise InputError(
            f"{model.__name__} is a class, not a fitted model",
            hint=f"make one and fit it: {model.__name__}(...).fit(X, y).",
        )
    if isinstance(model, Forest):
        return model
    if hasattr(model, "best_estimator_"):
        return _bare(model.best_estimator_)
    if getattr(model, "encoder_", model) is None:  # a wrapped pipeline that encodes by itself
        return _bare(model.estimator_)
    if hasattr(model, "get_params") and hasattr(model, "fit"):
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        try:
            check_is_fitted(model)
        except NotFittedError:
            raise InputError(
                f"this {type(model).__name__} is not fitted yet", hint="call its fit(X, y) first."
            ) from None
        except TypeError:
            pass  # no estimator in scikit-learn's sense; its own importer will ask
    return model


def _ends_in_trees(model: Any) -> bool:
    return not is_pipeline(model) or forests.supports(model.steps[-1][1])
