"""Options in messages of the library that still name them in prose."""

import re
import shlex

__all__ = ["in_options"]

_STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_OPTION = (
    r"(?<![-\w])(?P<option>task|decimal|delimiter|encoding|categories|ignore|protected|kinds|"
    r"interval|search|scale|value|method|kind|equal|effort|data|tolerance|leaves|seconds|memory)"
)
_COUNT = (
    r"(?<![-\w])(?P<option>outer|inner|tune|repeats|confidence|budget|seed|n_jobs|leaves|seconds|"
    r"memory|tolerance)"
)

_KIND = re.compile(rf"(?<!\w)kinds=\{{(?P<name>{_STRING}): (?P<kind>{_STRING})\}}")
_VALUE = re.compile(rf"{_OPTION}=(?P<value>{_STRING}|\[(?:{_STRING})(?:, (?:{_STRING}))*\])")
_NO_VALUE = re.compile(rf"{_OPTION}=(?:\.\.\.|…|(?=[\s,;]|$))")
_NUMBER = re.compile(rf"{_COUNT}=(?P<value>-?(?:\d[\d.e+-]*(?<!\.)|nan|inf))")
# An option of `clearwood explain` as the subject of a complaint.
_SUBJECT = re.compile(
    r"^(?P<option>scale|level|sample|folds|repeats|loss|precision|time_budget|kernel_width|"
    r"n_features|n_samples|n_background|max_evaluations)(?= is \S)"
)
# What the command line has no option for.
_SPACE = re.compile(r": (?P<space>space=\{.*?\}\})")
_FORCE = re.compile(r" \(force=True\)")

# Advice that gives both spellings says the same twice once it is translated.
_WORD = rf"(?:{_STRING}|[^\s'\"(),]+|,)"
_TWICE = re.compile(
    rf"(?P<once>--(?P<option>\w+) {_WORD})(?:, --(?P=option) [^)]*| \(--(?P=option) [^)]*\))"
)


def in_options(text: str) -> str:
    """Write advice given in Python's spelling as command-line options.

    Examples
    --------
    >>> in_options("set kinds={'zip': 'category'} or task='count'.")
    'set --kind zip=category or --task count.'
    >>> in_options("read it with decimal=',' (--decimal ,); or set encoding=...")
    'read it with --decimal ,; or set --encoding'
    >>> in_options("leave it out (ignore=['my zip'], --ignore my zip)")
    "leave it out (--ignore 'my zip')"
    >>> in_options('give data=, or equal="value" with a tolerance=; leaves=0 is too few')
    'give --data, or --equal value with a --tolerance; --leaves 0 is too few'
    >>> in_options("time_budget is -1.0 seconds; it must be above 0")
    '--time-budget is -1.0 seconds; it must be above 0'
    """
    text = _SUBJECT.sub(lambda match: _flag(match["option"]), text)
    text = _KIND.sub(_spell_kind, text)
    text = _VALUE.sub(_spell_value, text)
    text = _NO_VALUE.sub(lambda match: _flag(match["option"]), text)
    text = _NUMBER.sub(lambda match: f"{_flag(match['option'])} {match['value']}", text)
    text = _SPACE.sub(r" (in Python: \g<space>)", text)
    text = _FORCE.sub("", text)
    return _TWICE.sub(lambda match: match["once"], text)


def _spell_kind(match: re.Match[str]) -> str:
    return "--kind " + _word(f"{_unquoted(match['name'])}={_unquoted(match['kind'])}")


def _spell_value(match: re.Match[str]) -> str:
    values = re.findall(_STRING, match["value"])
    return " ".join(f"{_flag(match['option'])} {_word(_unquoted(value))}" for value in values)


def _flag(option: str) -> str:
    return {"kinds": "--kind", "n_jobs": "--jobs"}.get(option, f"--{option.replace('_', '-')}")


def _unquoted(literal: str) -> str:
    return literal[1:-1].replace("\\'", "'").replace('\\"', '"')


def _word(text: str) -> str:
    return text if text == "," else shlex.quote(text)
