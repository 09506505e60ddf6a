"""Clearwood's learners: a model and the encoding of its columns."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clearwood.forest.encoders import LearnerEncoder
from clearwood.forest.forest import Forest
from clearwood.forest.importers.from_model import from_model, not_supported, supports

if TYPE_CHECKING:
    from clearwood.models import Learner

__all__ = ["behind_learner", "learner"]


def learner(model: "Learner") -> Forest:
    """Import the tree model of a learner; it takes the user's columns and predicts labels."""
    # a tree of ours that cannot be written as a forest has a reason of its own
    if not supports(model.estimator_) and getattr(model.estimator_, "is_plain", True):
        raise not_supported(f"learner {model.name!r}", model)
    return behind_learner(model, from_model(model.estimator_))


def behind_learner(model: "Learner", forest: Forest) -> Forest:
    """Return the forest of a learner's estimator with the learner's encoding in front."""
    encoder = model.encoder_
    classes = forest.classes
    if classes is not None:
        classes = model.classes_[classes.astype(np.intp)]
    return replace(
        forest,
        feature_names=tuple(column.name for column in encoder.columns_),
        columns=tuple(encoder.used_),
        groups=np.asarray(encoder.sources_, np.int32),
        encoder=LearnerEncoder(encoder, model.schema_),
        classes=classes,
        source=f"learner {model.name!r} ({forest.source})",
    )
