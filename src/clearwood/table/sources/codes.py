"""Strings and categories of data frames as codes, by the frame's own library."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["category_codes", "string_codes"]

Codes = NDArray[np.int32]


def string_codes(series: Any) -> tuple[Codes, tuple[str, ...]] | None:
    """Return codes into the distinct strings of a narwhals series, in order of appearance.

    Missing strings are -1. None where the library has no fast way.
    """
    native, library = series.to_native(), series.implementation
    if library.is_pyarrow():
        import pyarrow as pa

        encoded = native.cast(pa.large_string()).dictionary_encode().combine_chunks()
        return _arrow_indices(encoded), tuple(_arrow_dictionary(encoded).to_pylist())
    if library.is_pandas():
        codes, strings = native.factorize()
        return codes.astype(np.int32), tuple(map(str, strings))
    if library.is_polars():
        import polars as pl

        strings = native.drop_nulls().unique(maintain_order=True)
        places = pl.Series(np.arange(len(strings), dtype=np.int32))
        codes = native.replace_strict(strings, places, default=None, return_dtype=pl.Int32)
        return codes.fill_null(-1).to_numpy(), tuple(strings.to_list())
    return None


def category_codes(series: Any) -> Codes | None:
    """Return the codes of a narwhals series of categories, -1 for missing.

    They are positions in ``series.cat.get_categories()``. None where the library has no fast way,
    or where its categories are not all different strings.
    """
    native, library = series.to_native(), series.implementation
    if library.is_pandas():
        codes: Codes = native.cat.codes.to_numpy().astype(np.int32)
        return codes
    if library.is_pyarrow():
        encoded = native.unify_dictionaries().combine_chunks()
        levels = _arrow_dictionary(encoded)
        if levels.null_count == 0 and len(levels.unique()) == len(levels):
            return _arrow_indices(encoded)
    return None


def _arrow_dictionary(encoded: Any) -> Any:
    """Return the dictionary of an encoded array; that of one without chunks is empty."""
    import pyarrow as pa

    if isinstance(encoded, pa.ChunkedArray):
        return encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], pa.string())
    return encoded.dictionary


def _arrow_indices(encoded: Any) -> Codes:
    """Return the indices of a dictionary array without nulls, -1 in their place."""
    import pyarrow as pa

    if isinstance(encoded, pa.ChunkedArray):
        if not encoded.num_chunks:
            return np.empty(0, np.int32)
        encoded = encoded.chunk(0)
    indices: Codes = encoded.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return indices
