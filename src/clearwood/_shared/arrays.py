"""The array types that signatures name."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Index"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: Positions of rows or columns.
Index = NDArray[np.intp]
