"""Checks of the settings of learners: those of options, which name a setting."""

from functools import partial

from clearwood._shared import checks
from clearwood._shared.errors import Setting

__all__ = ["check_choice", "check_real", "check_whole"]

check_whole = partial(checks.check_whole, kind=Setting)
check_real = partial(checks.check_real, kind=Setting)
check_choice = partial(checks.check_choice, kind=Setting)
