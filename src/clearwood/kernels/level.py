"""Which instruction set the kernels use."""

import os

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.kernels import _core

__all__ = ["simd_level"]

_KNOWN = ("baseline", "avx2", "avx512")
_VARIABLE = "CLEARWOOD_SIMD"


def simd_level() -> str:
    """Return the instruction set that the compiled kernels use.

    The widest one that the processor supports is chosen when Clearwood is loaded. The environment
    variable ``CLEARWOOD_SIMD`` chooses another: ``baseline``, ``avx2`` or ``avx512``. Results do
    not depend on it.

    Returns
    -------
    str

    Examples
    --------
    >>> simd_level() in ("baseline", "avx2", "avx512")
    True
    """
    return _core.level()


def _use_requested_level(requested: str | None) -> None:
    """Obey the environment variable; an empty one counts as not set."""
    if not requested:
        return
    if requested not in _KNOWN:
        raise InputError(
            f"{_VARIABLE}={requested!r} is not an instruction set",
            hint=did_you_mean(requested, _KNOWN),
        )
    supported = _core.supported_levels()
    if requested not in supported:
        raise InputError(
            f"{_VARIABLE}={requested!r} cannot be used: this processor or this build lacks it",
            hint=f"unset {_VARIABLE} or choose from {', '.join(supported)}.",
        )
    _core.use_level(requested)


_use_requested_level(os.environ.get(_VARIABLE))
