"""One view of any fitted model: what it is, what it takes, and what it predicts."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.fitted.inputs import as_data, model_input, user_columns
    from clearwood.fitted.linear_scores import (
        Score,
        dense,
        fitted_names,
        parts_of,
        quietly,
        score_of,
    )
    from clearwood.fitted.model import FittedModel, as_model
    from clearwood.fitted.recognition import is_pipeline, name_of, own_names, unwrapped
    from clearwood.fitted.scales import (
        Scale,
        Unit,
        checked_scale,
        numbered_outputs,
        output_position,
    )
    from clearwood.fitted.scoring import Scorer, both_signs, forest_scorer, scorer_of
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "FittedModel",
    "Scale",
    "Score",
    "Scorer",
    "Unit",
    "as_data",
    "as_model",
    "both_signs",
    "checked_scale",
    "dense",
    "fitted_names",
    "forest_scorer",
    "is_pipeline",
    "model_input",
    "name_of",
    "numbered_outputs",
    "output_position",
    "own_names",
    "parts_of",
    "quietly",
    "score_of",
    "scorer_of",
    "unwrapped",
    "user_columns",
]
