"""How much memory there is."""

from pathlib import Path

__all__ = ["free_memory", "memory_limit"]

_LIMIT = Path("/sys/fs/cgroup/memory.max")
_USED = Path("/sys/fs/cgroup/memory.current")


def free_memory() -> int | None:
    """Return the bytes that more work may use; None where the system does not say.

    The least of what the machine has left, what a container may still use, and what is left of the
    process's limit on addresses.

    Examples
    --------
    >>> free = free_memory()
    >>> free is None or free > 0
    True
    """
    known = [n for n in (_of_machine(), _of_container(), _of_process()) if n is not None]
    return max(min(known), 1) if known else None


def memory_limit() -> int | None:
    """Return the bytes that this process may ever use; None where the system does not say.

    The least of the machine's memory, its container's, and the process's limit on addresses: the
    same on a busy machine as on an idle one.

    Examples
    --------
    >>> limit, free = memory_limit(), free_memory()
    >>> limit is None or free is None or free <= limit
    True
    """
    limits = (_of_machine("MemTotal"), _container_limit(), _process_limit())
    return min((n for n in limits if n is not None), default=None)


def _of_machine(field: str = "MemAvailable") -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(n.split()[1]) * 1024 for n in lines if n.startswith(f"{field}:")), None)


def _container_limit() -> int | None:
    try:
        limit = _LIMIT.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(limit) if limit.isdigit() else None


def _process_limit() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else int(limit)


def _of_container() -> int | None:
    limit = _container_limit()
    if limit is None:
        return None
    try:
        return limit - int(_USED.read_text(encoding="ascii"))
    except OSError:
        return None


def _of_process() -> int | None:
    limit = _process_limit()
    if limit is None:
        return None
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return limit
    return limit - pages * resource.getpagesize()
