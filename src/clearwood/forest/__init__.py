"""Tree models as plain arrays: import, prediction, and files without executable code."""

from clearwood.forest import links
from clearwood.forest.encoders import LearnerEncoder
from clearwood.forest.files import ARRAYS, from_settings, load, settings
from clearwood.forest.forest import Forest, Precision
from clearwood.forest.importers.from_model import SUPPORTED, from_model, supports
from clearwood.forest.importers.learner import behind_learner
from clearwood.forest.importers.text import read_text
from clearwood.forest.inputs import default_names
from clearwood.forest.links import inverse
from clearwood.forest.nodes import SPLIT_ARRAYS, NodeArrays
from clearwood.forest.parts import arrays_at
from clearwood.forest.predict import ZERO, goes_left, predict_raw, raw_of_leaves, rounded

__all__ = [
    "ARRAYS",
    "SPLIT_ARRAYS",
    "SUPPORTED",
    "ZERO",
    "Forest",
    "LearnerEncoder",
    "NodeArrays",
    "Precision",
    "arrays_at",
    "behind_learner",
    "default_names",
    "from_model",
    "from_settings",
    "goes_left",
    "inverse",
    "links",
    "load",
    "predict_raw",
    "raw_of_leaves",
    "read_text",
    "rounded",
    "settings",
    "supports",
]
