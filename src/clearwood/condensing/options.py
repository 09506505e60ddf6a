"""The words that options of `condense` take."""

from typing import Literal

__all__ = ["Effort", "Equal", "Objective"]

#: What must be equal: the predicted label, or the raw prediction.
Equal = Literal["class", "value"]
#: How much work goes into a small tree.
Effort = Literal["fast", "good", "optimal"]
#: What is made small.
Objective = Literal["leaves", "depth", "questions"]
