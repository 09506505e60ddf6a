from typing import Any

import numpy as np
from numpy.typing import NDArray

# Areas are kept in the order in which module.cpp binds them.

# dispatch
def supported_levels() -> list[str]: ...
def use_level(name: str) -> None: ...
def level() -> str: ...

# boost
def boost(
    bins: NDArray[np.uint8],
    n_bins: NDArray[np.int32],
    y: NDArray[np.float32],
    weight: NDArray[np.float32],
    offset: NDArray[np.float32],
    fold_of_row: NDArray[np.int32],
    categories: NDArray[np.int32],
    orders: NDArray[np.uint8],
    monotone: NDArray[np.int8],
    pairs: NDArray[np.uint8],
    options: dict[str, Any],
    n_threads: int,
) -> dict[str, Any]: ...

# cart
def grow_cart(**arrays_and_limits: Any) -> dict[str, Any]: ...
def cart_leaves(
    values: NDArray[np.float64],
    nodes: dict[str, NDArray[Any]],
    surrogates: dict[str, NDArray[Any]],
    words: NDArray[np.uint32],
    out: NDArray[np.int32],
) -> None: ...
def weakest_links(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    risk: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...

# condense
def compose(
    ensemble: dict[str, Any],
    decision: dict[str, Any],
    limits: dict[str, Any],
    options: dict[str, Any],
) -> dict[str, Any]: ...
def compose_within(
    ensemble: dict[str, Any],
    decision: dict[str, Any],
    limits: dict[str, Any],
    options: dict[str, Any],
    leaves: int,
    n_threads: int,
) -> dict[str, Any]: ...

# exponential
def exponential(values: NDArray[np.floating[Any]], out: NDArray[np.floating[Any]]) -> None: ...

# parallel
def parallel_probe(
    visits: NDArray[np.int64], n_threads: int, pause: float, fail_at: int
) -> int: ...

# forest
class PackedForest:
    def __init__(self, **arrays: Any) -> None: ...
    def sum(
        self,
        values: NDArray[np.floating[Any]],
        base: NDArray[np.float64],
        out: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...
    def leaves(
        self, values: NDArray[np.floating[Any]], out: NDArray[np.int32], n_threads: int
    ) -> None: ...

# lasso
def lasso_path(
    start: NDArray[np.int64],
    rows: NDArray[np.uint32],
    scale: NDArray[np.float64],
    dense: NDArray[np.float64],
    response: NDArray[np.float64],
    weight: NDArray[np.float64],
    fold: NDArray[np.int32],
    n_folds: int,
    family: int,
    ratio: float,
    patience: int,
    one_error: bool,
    tolerance: float,
    penalties: NDArray[np.float64],
    losses: NDArray[np.float64],
    intercept: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    n_threads: int,
) -> int: ...

# graph
def graph_closure(
    offsets: NDArray[np.int32], targets: NDArray[np.int32], start: NDArray[np.uint8]
) -> NDArray[np.uint8]: ...
def graph_reach(
    effect_offsets: NDArray[np.int32],
    effects: NDArray[np.int32],
    cause_offsets: NDArray[np.int32],
    causes: NDArray[np.int32],
    start: NDArray[np.uint8],
    blocked: NDArray[np.uint8],
    opened: NDArray[np.uint8],
    inside: NDArray[np.uint8],
    wanted: NDArray[np.uint8],
) -> NDArray[np.uint8]: ...
def graph_cut(
    n_nodes: int,
    from_: NDArray[np.int32],
    to: NDArray[np.int32],
    capacity: NDArray[np.float64],
    source: int,
    sink: int,
) -> NDArray[np.uint8]: ...

# mars
def mars_forward(
    columns: NDArray[np.float64],
    levels: NDArray[np.int32],
    response: NDArray[np.float64],
    weight: NDArray[np.float64],
    degree: int,
    threshold: float,
    min_span: float,
    end_span: float,
    max_knots: int,
    n_parents: int,
    parent: NDArray[np.int32],
    column: NDArray[np.int32],
    kind: NDArray[np.int32],
    knot: NDArray[np.float64],
    subset: NDArray[np.uint8],
    basis: NDArray[np.float64],
    n_threads: int,
) -> int: ...

# planted
def plant(
    bins: NDArray[np.uint8],
    n_bins: NDArray[np.int32],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    start: NDArray[np.float64],
    n_families: int,
    options: dict[str, Any],
    n_threads: int,
) -> dict[str, NDArray[Any]]: ...

# rank
def rank_columns(
    values: NDArray[np.floating[Any]],
    thresholds: NDArray[np.floating[Any]],
    offsets: NDArray[np.int64],
    or_equal: bool,
    codes: NDArray[np.integer[Any]],
    n_threads: int,
) -> None: ...

# shapley
class ShapleyForest:
    def __init__(
        self,
        roots: NDArray[np.int32],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        column: NDArray[np.int32],
        start: NDArray[np.uint16],
        width: NDArray[np.uint16],
        set: NDArray[np.int64],  # noqa: A002 - the C++ argument
        words: NDArray[np.uint32],
        n_classes: NDArray[np.int32],
        player: NDArray[np.int32],
        cover: NDArray[np.float64],
        value: NDArray[np.float64],
        tree_output: NDArray[np.int32],
        n_players: int,
        n_outputs: int,
    ) -> None: ...
    def path_dependent(
        self,
        codes: NDArray[np.uint16],
        shapley: NDArray[np.float64],
        pairs: NDArray[np.float64] | None,
        n_threads: int,
    ) -> None: ...
    def path_sets(self, max_order: int, most: int) -> list[list[int]]: ...
    @property
    def n_counts(self) -> int: ...
    @property
    def needs_rows(self) -> bool: ...
    def count(
        self,
        codes: NDArray[np.uint16],
        weights: NDArray[np.float64],
        counts: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...

class ShapleyTables:
    def __init__(
        self,
        forest: ShapleyForest,
        counts: NDArray[np.float64],
        background_codes: NDArray[np.uint16],
        background_weights: NDArray[np.float64],
        total_weight: float,
        pairs: bool,
        sets: tuple[NDArray[np.int64], NDArray[np.int32]] | None,
        n_threads: int,
    ) -> None: ...
    @property
    def are_kept(self) -> bool: ...
    @property
    def n_bytes(self) -> int: ...
    def explain(
        self,
        codes: NDArray[np.uint16],
        result: NDArray[np.float64],
        baseline: NDArray[np.float64],
        few: tuple[NDArray[np.uint16], NDArray[np.float64]] | None,
        n_threads: int,
    ) -> None: ...

# subset
def best_subsets(
    inverse: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    rss: float,
    group: NDArray[np.int32],
    n_groups: int,
    largest: int,
    max_nodes: int,
    best: NDArray[np.float64],
    sets: NDArray[np.uint64],
) -> int: ...

# ubjson
class UbjsonDocument:
    def __init__(self, data: NDArray[np.uint8]) -> None: ...
    def find(self, object: int, name: str) -> int: ...  # noqa: A002
    def count(self, position: int) -> int: ...
    def value(self, position: int) -> Any: ...
    def column(self, records: int, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]: ...

# certify
def certify(
    columns: dict[str, Any],
    ensemble: dict[str, Any],
    claim: dict[str, Any],
    seconds: float,
    bytes: float,  # noqa: A002
) -> dict[str, Any]: ...
