"""A condensed tree for people: questions, rules, paths and pictures on the user's columns."""

from clearwood.condensing.reading.questions import Labels, Question, Ranges, column_names
from clearwood.condensing.reading.wording import Condition, Wording

__all__ = ["Condition", "Labels", "Question", "Ranges", "Wording", "column_names"]
