"""How much memory the work may take."""

from pathlib import Path

from clearwood._shared.errors import InputError

__all__ = ["allowance", "in_words"]

_MOST = 8 * 10**9


def allowance(memory: float | None) -> int:
    """Give the bytes that may be used: as asked, else 8 GB or 60 % of what is free.

    Examples
    --------
    >>> allowance(2e9)
    2000000000
    """
    if memory is not None:
        if not memory > 0:
            raise InputError(f"memory={memory}; it must be a positive number of bytes")
        return int(memory)
    return min(_MOST, int(0.6 * _available()))


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return _MOST
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return _MOST


def in_words(n_bytes: float) -> str:
    """Say a number of bytes.

    Examples
    --------
    >>> in_words(8e9), in_words(1.32e9), in_words(3.2e13), in_words(7300)
    ('8 GB', '1.3 GB', '32,000 GB', '7 kB')
    """
    if n_bytes < 1e6:
        return f"{max(n_bytes / 1e3, 1):.0f} kB"
    if n_bytes < 1e9:
        return f"{n_bytes / 1e6:.0f} MB"
    if n_bytes < 1e10:
        return f"{n_bytes / 1e9:.2g} GB"
    return f"{n_bytes / 1e9:,.0f} GB"
