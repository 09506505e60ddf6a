"""Tables: reading them, what their columns hold, and how models see them."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import on_demand

if TYPE_CHECKING:
    from clearwood.table._column import Column
    from clearwood.table._column_encoders import Encoded
    from clearwood.table._encoder import Encoder
    from clearwood.table._kinds import Kind, Role, Task
    from clearwood.table._profile import Profile, profile
    from clearwood.table._read import as_table, read, read_as
    from clearwood.table._schema import ColumnSchema, Schema
    from clearwood.table._table import Table
    from clearwood.table._task import find_task
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "clearwood.table._column": ["Column"],
            "clearwood.table._column_encoders": ["Encoded"],
            "clearwood.table._encoder": ["Encoder"],
            "clearwood.table._kinds": ["Kind", "Role", "Task"],
            "clearwood.table._profile": ["Profile", "profile"],
            "clearwood.table._read": ["as_table", "read", "read_as"],
            "clearwood.table._schema": ["ColumnSchema", "Schema"],
            "clearwood.table._table": ["Table"],
            "clearwood.table._task": ["find_task"],
        },
    )

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
