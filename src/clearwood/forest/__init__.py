"""Tree models as plain arrays: importers, prediction and safe files."""

from clearwood.forest._files import load
from clearwood.forest._forest import Forest
from clearwood.forest._from_model import from_model, supports
from clearwood.forest._text import read_text

__all__ = ["Forest", "from_model", "load", "read_text", "supports"]
