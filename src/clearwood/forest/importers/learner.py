"""Clearwood's learners: the model inside, with the encoding in front."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.forest.encoders import LearnerEncoder
from clearwood.forest.forest import Forest
from clearwood.forest.importers.from_model import SUPPORTED, from_model, supports

if TYPE_CHECKING:
    from clearwood.models import Learner

__all__ = ["behind_learner", "learner"]


def learner(model: "Learner") -> Forest:
    """Import the tree model inside a learner; it takes the user's columns and gives labels."""
    if not supports(model.estimator_):
        raise InputError(
            f"learner {model.name!r} is not a tree model that can be read as a forest",
            hint=f"these can: {SUPPORTED}. cw.explain samples any other model.",
        )
    return behind_learner(model, from_model(model.estimator_))


def behind_learner(model: "Learner", forest: Forest) -> Forest:
    """Put the encoding of a learner in front of the forest of its estimator."""
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
