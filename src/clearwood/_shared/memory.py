"""How much memory there is for more work."""

from pathlib import Path

__all__ = ["free_memory"]

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


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(n.split()[1]) * 1024 for n in lines if n.startswith("MemAvailable:")), None)


def _of_container() -> int | None:
    try:
        limit, used = (path.read_text(encoding="ascii").strip() for path in (_LIMIT, _USED))
    except OSError:
        return None
    return None if not limit.isdigit() else int(limit) - int(used)


def _of_process() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return int(limit)
    return int(limit) - pages * resource.getpagesize()
