"""Tables: reading them, what their columns hold, and how models see them."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.table.column import Column
    from clearwood.table.encoding.columns import Encoded
    from clearwood.table.encoding.encoder import Encoder
    from clearwood.table.kinds.task import find_task
    from clearwood.table.profiles import Profile, profile
    from clearwood.table.reading.read import as_table, read, read_as
    from clearwood.table.schema import ColumnSchema, Schema
    from clearwood.table.table import Table
    from clearwood.table.types import Kind, Role, Task
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "Column",
    "ColumnSchema",
    "Encoded",
    "Encoder",
    "Kind",
    "Profile",
    "Role",
    "Schema",
    "Table",
    "Task",
    "as_table",
    "find_task",
    "profile",
    "read",
    "read_as",
]
