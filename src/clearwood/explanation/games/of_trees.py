"""The game of a tree model that takes the user's columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.explanation.adapter.rows import (
    Rows,
    as_data,
    label_rows,
    rows_of_table,
    user_columns,
)
from clearwood.explanation.games.trees import TreeGame
from clearwood.forest import Forest
from clearwood.forest.encoders import LearnerEncoder
from clearwood.forest.inputs import default_names
from clearwood.table import Table, as_table

__all__ = ["forest_outputs", "forest_unit", "of_forest"]


def of_forest(forest: Forest) -> TreeGame:
    """Take a forest, with the encoder it may have."""
    made_up = forest.columns == default_names(len(forest.columns))

    def read(data: Any) -> Rows:
        if isinstance(forest.encoder, LearnerEncoder):
            table = as_table(data, schema=forest.encoder.schema)
            return rows_of_table(table, forest.columns, forest.matrix(table), data)
        data = as_data(data)
        columns = user_columns(data, forest.columns, by_position=made_up)
        return Rows(
            codes=forest.matrix(data),
            columns=columns,
            labels=label_rows(data, len(columns[0])),
            weights=data.weights if isinstance(data, Table) else None,
            source=data.source if isinstance(data, Table) else "",
        )

    return TreeGame(
        columns=forest.columns,
        groups=forest.groups.astype(np.intp),
        outputs=forest_outputs(forest, forest.classes),
        unit=forest_unit(forest),
        is_step=True,
        kind=forest.source,
        forest=forest,
        reader=read,
    )


def forest_outputs(forest: Forest, classes: NDArray[Any] | None) -> tuple[str, ...]:
    """Name the outputs: classes, where there are some."""
    n_outputs = forest.n_outputs
    if classes is not None and len(classes) == n_outputs:
        return tuple(map(str, classes))
    if classes is not None and len(classes) == 2 and n_outputs == 1:
        return (str(classes[1]),)
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))


def forest_unit(forest: Forest) -> str:
    """Say what the raw prediction is."""
    units = {"logistic": "log odds", "softmax": "score before softmax", "log": "log of the mean"}
    if forest.link != "identity":
        return units.get(forest.link, f"score before {forest.link}")
    if forest.classes is None:
        return "prediction"
    words = {"hard vote": "share of votes", "weighted vote": "score"}
    return words.get(forest.aggregation, "probability")
