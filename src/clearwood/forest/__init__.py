"""Tree models as plain arrays: importers, prediction and safe files."""

from clearwood.forest.files import load
from clearwood.forest.forest import Forest
from clearwood.forest.importers.from_model import from_model, supports
from clearwood.forest.importers.text import read_text

__all__ = ["Forest", "from_model", "load", "read_text", "supports"]
