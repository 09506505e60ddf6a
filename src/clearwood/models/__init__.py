"""Learners: the catalogue, and each entry as a scikit-learn estimator."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.models import catalogue
    from clearwood.models.catalogue.discriminant.estimators import fisher_directions
    from clearwood.models.catalogue.hme.estimators import ExpertTable
    from clearwood.models.catalogue.linear.subset import fit_criteria
    from clearwood.models.catalogue.prim.estimators import BoxList
    from clearwood.models.catalogue.trees.tree import CartTree
    from clearwood.models.entries.entry import Choice, Dimension, Entry, Job, Real, Whole
    from clearwood.models.entries.stages import PATIENCE, Rows, Stages, fit_boosting
    from clearwood.models.equations import equation, has_equation
    from clearwood.models.extrapolation import Extrapolation, outside_training, rows_outside
    from clearwood.models.facts import check_fitted, has_probabilities, is_fitted
    from clearwood.models.files.model_file import ModelFile
    from clearwood.models.files.packing import pack_estimator, unpack_estimator
    from clearwood.models.learners import Learner, learner
    from clearwood.models.prediction_files import (
        model_digest,
        prediction_columns,
        written_predictions,
    )
    from clearwood.models.prediction_intervals import PredictionIntervals
    from clearwood.models.selection.result import Selection, chooses_columns, chosen_columns
    from clearwood.models.selection.spec import SELECTIONS, Method, read_selection, with_number
    from clearwood.models.separation import diverging_columns
    from clearwood.models.shared.score import (
        Basis,
        ProductTerm,
        ScoreParts,
        Spread,
        SumOfProducts,
        TermFacts,
        TreeArrays,
    )
    from clearwood.models.shared.unit import unit_of
    from clearwood.models.storage import inspect, load, save
    from clearwood.models.table_model import TableModel
    from clearwood.models.wrapped_estimator import WrappedEstimator
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "PATIENCE",
    "SELECTIONS",
    "Basis",
    "BoxList",
    "CartTree",
    "Choice",
    "Dimension",
    "Entry",
    "ExpertTable",
    "Extrapolation",
    "Job",
    "Learner",
    "Method",
    "ModelFile",
    "PredictionIntervals",
    "ProductTerm",
    "Real",
    "Rows",
    "ScoreParts",
    "Selection",
    "Spread",
    "Stages",
    "SumOfProducts",
    "TableModel",
    "TermFacts",
    "TreeArrays",
    "Whole",
    "WrappedEstimator",
    "catalogue",
    "check_fitted",
    "chooses_columns",
    "chosen_columns",
    "diverging_columns",
    "equation",
    "fisher_directions",
    "fit_boosting",
    "fit_criteria",
    "has_equation",
    "has_probabilities",
    "inspect",
    "is_fitted",
    "learner",
    "load",
    "model_digest",
    "outside_training",
    "pack_estimator",
    "prediction_columns",
    "read_selection",
    "rows_outside",
    "save",
    "unit_of",
    "unpack_estimator",
    "with_number",
    "written_predictions",
]
