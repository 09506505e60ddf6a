from typing import Any

import numpy as np
from numpy.typing import NDArray

# Areas are kept in the order in which module.cpp binds them.

# dispatch
def supported_levels() -> list[str]: ...
def use_level(name: str) -> None: ...
def level() -> str: ...

# parallel
def parallel_probe(
    visits: NDArray[np.int64], n_threads: int, pause: float, fail_at: int
) -> int: ...

# rank
def rank_columns(
    values: NDArray[np.floating[Any]],
    thresholds: NDArray[np.floating[Any]],
    offsets: NDArray[np.int64],
    or_equal: bool,
    codes: NDArray[np.integer[Any]],
    n_threads: int,
) -> None: ...
