"""Tables: reading them, what their columns hold, and how models see them."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.table.column import Column, shown_name
    from clearwood.table.encoding.columns import Encoded, NumberEncoder
    from clearwood.table.encoding.encoder import Encoder
    from clearwood.table.gaps import complete_rows, gap_shares, gaps_listed, imputed_tables
    from clearwood.table.identical import IDENTICAL_ROWS, identical_rows, row_hashes
    from clearwood.table.kinds.calendar import CALENDAR_PARTS, calendar_features
    from clearwood.table.kinds.code_like import are_few_levels
    from clearwood.table.kinds.dates import parse_dates
    from clearwood.table.kinds.written_numbers import numbers_among
    from clearwood.table.monotone import DIRECTIONS, check_columns, check_directions, check_task
    from clearwood.table.parts.learning import learn_encoder
    from clearwood.table.parts.parts import Part, Parts
    from clearwood.table.parts.storage import as_address
    from clearwood.table.profiles import Profile, profile
    from clearwood.table.raw import number_text
    from clearwood.table.reading.read import as_table, read, read_as
    from clearwood.table.reading.scan import scan, scan_as
    from clearwood.table.roles.settle import as_columns
    from clearwood.table.roles.task import find_task
    from clearwood.table.schema import ColumnSchema, Schema
    from clearwood.table.sources.codes import category_codes, string_codes
    from clearwood.table.stand_ins import StandIn, stand_ins_of
    from clearwood.table.table import Table
    from clearwood.table.types import NUMERIC, Kind, Role, Task
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "CALENDAR_PARTS",
    "DIRECTIONS",
    "IDENTICAL_ROWS",
    "NUMERIC",
    "Column",
    "ColumnSchema",
    "Encoded",
    "Encoder",
    "Kind",
    "NumberEncoder",
    "Part",
    "Parts",
    "Profile",
    "Role",
    "Schema",
    "StandIn",
    "Table",
    "Task",
    "are_few_levels",
    "as_address",
    "as_columns",
    "as_table",
    "calendar_features",
    "category_codes",
    "check_columns",
    "check_directions",
    "check_task",
    "complete_rows",
    "find_task",
    "gap_shares",
    "gaps_listed",
    "identical_rows",
    "imputed_tables",
    "learn_encoder",
    "number_text",
    "numbers_among",
    "parse_dates",
    "profile",
    "read",
    "read_as",
    "row_hashes",
    "scan",
    "scan_as",
    "shown_name",
    "stand_ins_of",
    "string_codes",
]
