"""Files: written whole or not at all, and read back only if nothing in them has changed."""

from clearwood.files.arrays import damaged, from_array, from_json, to_array, to_json
from clearwood.files.atomic import atomic_write, removing_unfinished
from clearwood.files.container import FORMAT_VERSION, Archive, Manifest, Member, read, write
from clearwood.files.database import Database

__all__ = [
    "FORMAT_VERSION",
    "Archive",
    "Database",
    "Manifest",
    "Member",
    "atomic_write",
    "damaged",
    "from_array",
    "from_json",
    "read",
    "removing_unfinished",
    "to_array",
    "to_json",
    "write",
]
