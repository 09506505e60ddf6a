"""Equations as text: parsed against a list of what is allowed, and never evaluated as code."""

import ast
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.numbers import count
from clearwood.causal.scm.expression import (
    COMPARISONS,
    FUNCTIONS,
    Apply,
    Choice,
    Choose,
    Expression,
    IsLevel,
    Lookup,
    Noise,
    Number,
    Variable,
    no_noise,
    noise_in,
)
from clearwood.causal.scm.noise import DISTRIBUTIONS

__all__ = ["KnownColumns", "ParsedText", "equations_of_text", "quoted"]

# Longer or deeper texts could exhaust the parser's memory.
_MOST_CHARACTERS = 200_000
_DEEPEST = 250
# Larger powers overflow; a constant is raised at most to this.
_LARGEST_POWER = 64
# A string, or a name in backticks, in which two backticks stand for one.
_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`((?:[^`\n]|``)+)`""")
_STAND_IN = "quoted_name_{}_"

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_ALLOWED = sorted([*FUNCTIONS, *DISTRIBUTIONS, "choice", "where"])
_REFUSED: Mapping[type[ast.AST], str] = {
    ast.Attribute: "attributes (a dot after a name)",
    ast.Lambda: "lambda",
    ast.ListComp: "comprehensions",
    ast.SetComp: "comprehensions",
    ast.DictComp: "comprehensions",
    ast.GeneratorExp: "comprehensions",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.NamedExpr: "assignments",
    ast.JoinedStr: "formatted strings",
    ast.Starred: "starred arguments",
    ast.List: "lists",
    ast.Tuple: "tuples",
    ast.Set: "sets",
    ast.Dict: "a table of levels without [column] after it",
    ast.Subscript: "brackets after anything but a table of levels",
    ast.Slice: "slices",
}


def quoted(name: str) -> str:
    """Write the name of a column as equations do: in backticks unless it is a plain word.

    Examples
    --------
    >>> quoted("age"), quoted("miles per year"), quoted("lambda")
    ('age', '`miles per year`', '`lambda`')
    """
    import keyword

    plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return name if plain else "`" + name.replace("`", "``") + "`"


def equations_of_text(text: str) -> dict[str, str]:
    r"""Split a text of one equation a line, ``name = expression``, with comments after ``#``.

    Examples
    --------
    >>> equations_of_text("x = normal(0, 1)  # noise\n\n`y 2` = 2 * x")
    {'x': 'normal(0, 1)', 'y 2': '2 * x'}
    """
    result: dict[str, str] = {}
    for number, written in enumerate(text.splitlines(), 1):
        line = _without_comment(written).strip()
        if not line:
            continue
        match = re.match(r"\s*(?:`((?:[^`]|``)+)`|([^=`]+?))\s*=(?!=)\s*(.*)$", line)
        if match is None:
            raise InputError(
                f"line {number} of the equations is not an equation: {_short(line)}",
                parameter="equations",
                value=line,
                hint="write one equation a line, such as: y = 2 * x + normal(0, 1)",
            )
        name = match[2] if match[1] is None else match[1].replace("``", "`")
        if name in result:
            raise InputError(
                f"column {name!r} has two equations", parameter="equations", value=name
            )
        result[name] = match[3]
    return result


def _without_comment(line: str) -> str:
    """Cut a line at the first # outside of quotes."""
    position = 0
    while (at := line.find("#", position)) >= 0:
        inside = next((m for m in _QUOTED.finditer(line) if m.start() < at < m.end()), None)
        if inside is None:
            return line[:at]
        position = inside.end()
    return line


class KnownColumns:
    """The columns of a model: their places, and their names as Python's parser spells them.

    Parameters
    ----------
    names
        The columns, in order.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.places = {name: place for place, name in enumerate(names)}
        self.spelled = {unicodedata.normalize("NFKC", name): name for name in self.places}


class ParsedText:
    """The equation of a column as text: first what it names, then, with levels, what it computes.

    Parameters
    ----------
    column
        Whose equation it is.
    text
        The equation.
    columns
        All columns of the model.
    """

    def __init__(self, column: str, text: str, columns: "KnownColumns") -> None:
        self.column, self.text = column, text
        self._known = columns
        self._quoted: dict[str, str] = {}
        self._levels: Mapping[str, Sequence[str]] = {}
        self.tree = self._tree()
        self.parents = self._parents()

    def error(self, message: str, hint: str | None = None) -> InputError:
        """Make an error that names the equation."""
        return InputError(
            f"equation of {self.column!r}, {_short(self.text)}: {message}",
            parameter="equations",
            value=self.column,
            hint=hint,
        )

    def expression(self, levels: Mapping[str, Sequence[str]]) -> Expression:
        """Check every part of the equation; the levels of the categories it names are known."""
        self._levels = levels
        tree = self.tree
        if self._called(tree) == "choice":
            assert isinstance(tree, ast.Call)
            return self._choice(tree)
        return self._part(tree, 0)

    # Reading the text

    def _tree(self) -> ast.expr:
        if not self.text.strip():
            raise self.error("it is empty", "write an expression, such as normal(0, 1).")
        if len(self.text) > _MOST_CHARACTERS:
            raise self.error(f"it has more than {_MOST_CHARACTERS:,} characters")
        equation = self.text
        plain = _QUOTED.sub(self._stand_in, equation).strip()
        try:
            return ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.error(
                "it cannot be read",
                "an equation is one expression of numbers, columns, + - * / ** and functions; "
                "names that are no plain words go in backticks.",
            ) from None

    def _stand_in(self, match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        name = _STAND_IN.format(len(self._quoted))
        self._quoted[name] = match[1].replace("``", "`")
        return f" {name} "

    def _parents(self) -> tuple[str, ...]:
        functions = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        names = (
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and id(node) not in functions
        )
        used = {self._name(node) for node in names}
        if self.column in used:
            raise self.error(f"{self.column!r} depends on itself: {self.column} -> {self.column}")
        return tuple(sorted(used, key=self._known.places.__getitem__))

    def _name(self, node: ast.Name) -> str:
        name = self._quoted.get(node.id) or self._known.spelled.get(node.id, node.id)
        if name not in self._known.places:
            hint = did_you_mean(name, list(self._known.places))
            if name in _ALLOWED:
                hint = f"{name} is a function: write {name}(...)."
            raise self.error(f"there is no column {name!r}", hint)
        return name

    # Checking what it does

    def _part(self, node: ast.expr, depth: int) -> Expression:
        """Check one part; whatever is not listed here is refused."""
        self._check_depth(depth)
        checks: tuple[tuple[type[ast.expr], Callable[[Any, int], Expression]], ...] = (
            (ast.Constant, self._number),
            (ast.Name, self._variable),
            (ast.BinOp, self._binary),
            (ast.UnaryOp, self._unary),
            (ast.BoolOp, self._joined),
            (ast.Compare, self._comparison),
            (ast.IfExp, self._conditional),
            (ast.Subscript, self._lookup),
            (ast.Call, self._call),
        )
        for kind, check in checks:
            if isinstance(node, kind):
                return check(node, depth + 1)
        raise self._refused(node)

    def _check_depth(self, depth: int) -> None:
        """Refuse what would be too deep to evaluate, or is as long."""
        if depth > _DEEPEST:
            raise self.error(f"more than {_DEEPEST} operations lie inside each other")

    def _refused(self, node: ast.expr) -> InputError:
        """Make the error for what an equation cannot hold."""
        what = _REFUSED.get(type(node), f"{ast.unparse(node)[:60]!r}")
        return self.error(f"{what} cannot be used in an equation", _ALLOWED_HINT)

    def _binary(self, node: ast.BinOp, depth: int) -> Expression:
        if type(node.op) not in _BINARY:
            raise self._refused(node)
        left, right = self._part(node.left, depth), self._part(node.right, depth)
        if isinstance(node.op, ast.Pow):
            self._check_power(right)
        return Apply(_BINARY[type(node.op)], (left, right))

    def _unary(self, node: ast.UnaryOp, depth: int) -> Expression:
        if isinstance(node.op, ast.Invert):
            raise self._refused(node)
        part = self._part(node.operand, depth)
        if isinstance(node.op, ast.UAdd):
            return part
        return Apply("not" if isinstance(node.op, ast.Not) else "negative", (part,))

    def _joined(self, node: ast.BoolOp, depth: int) -> Expression:
        word = "and" if isinstance(node.op, ast.And) else "or"
        self._check_depth(len(node.values))
        return _folded(word, [self._part(part, depth) for part in node.values])

    def _conditional(self, node: ast.IfExp, depth: int) -> Expression:
        yes, test, no = (self._part(part, depth) for part in (node.body, node.test, node.orelse))
        return Choose(test, yes, no, is_test_first=False)

    def _number(self, node: ast.Constant, _depth: int) -> Number:
        value = node.value
        if isinstance(value, str):
            raise self.error(
                f"the text {value!r:.60} is not a number",
                'compare a category with its level, such as gender == "male", or choose by it, '
                'such as {"city": 1, "town": 0}[region].',
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            hint = "write 1 for yes and 0 for no." if isinstance(value, bool) else None
            raise self.error(f"{value!r:.60} is not a number", hint)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.error("a number is too large")
        return Number(number)

    def _variable(self, node: ast.Name, _depth: int) -> Variable:
        name = self._name(node)
        levels = self._levels.get(name, ())
        if levels and tuple(levels) != ("0", "1"):
            raise self.error(
                f"{name!r} is a category, not a number",
                f"compare it with a level, such as {quoted(name)} == {levels[-1]!r}.",
            )
        return Variable(name)

    def _check_power(self, exponent: Expression) -> None:
        constant = _constant(exponent)
        if constant is not None and abs(constant) > _LARGEST_POWER:
            raise self.error(
                f"the power {constant:g} is larger than {_LARGEST_POWER}",
                "use exp(...) for growth of this kind.",
            )
        if constant is None and isinstance(exponent, Apply) and exponent.function == "**":
            raise self.error("a power of a power is not allowed", "multiply the exponents.")

    def _comparison(self, node: ast.Compare, depth: int) -> Expression:
        sides = [node.left, *node.comparators]
        self._check_depth(len(sides))
        is_drawn_twice = any(self._is_noisy(side) for side in sides[1:-1])
        parts = []
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            levels = self._levels_of(left) or self._levels_of(right)
            if levels is not None:
                parts.append(self._is_level(left, operator, right))
            elif type(operator) in _COMPARED:
                if is_drawn_twice:
                    raise self.error("noise in the middle of a comparison would be drawn twice")
                both = (self._part(left, depth), self._part(right, depth))
                parts.append(Apply(_COMPARED[type(operator)], both))
            else:
                raise self.error(
                    "only < <= > >= == != compare numbers, and 'in' categories with levels"
                )
        return _folded("and", parts)

    def _is_noisy(self, node: ast.expr) -> bool:
        return any(
            self._called(part) in DISTRIBUTIONS
            for part in ast.walk(node)
            if isinstance(part, ast.expr)
        )

    def _levels_of(self, node: ast.expr) -> Sequence[str] | None:
        """Return the levels, where a side of a comparison is a category."""
        if not isinstance(node, ast.Name):
            return None
        levels = self._levels.get(self._name(node), ())
        return levels if levels and tuple(levels) != ("0", "1") else None

    def _is_level(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Expression:
        if self._levels_of(left) is None:
            left, right = right, left
            if isinstance(operator, ast.In | ast.NotIn):
                raise self.error('write the category first, such as region in ("city", "town")')
        assert isinstance(left, ast.Name)
        name = self._name(left)
        several = isinstance(operator, ast.In | ast.NotIn) and isinstance(
            right, ast.Tuple | ast.List | ast.Set
        )
        wanted = right.elts if several else [right]  # type: ignore[attr-defined]
        if not several and not isinstance(operator, ast.Eq | ast.NotEq):
            raise self.error(f"{name!r} is a category: compare it by == or != with a level")
        codes = tuple(self._code(name, self._text(part, name)) for part in wanted)
        return IsLevel(name, codes, isinstance(operator, ast.NotEq | ast.NotIn))

    def _text(self, node: ast.expr | None, name: str) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        raise self.error(f"{name!r} is a category: its levels are texts in quotes")

    def _code(self, name: str, level: str) -> int:
        levels = list(self._levels.get(name, ()))
        if level not in levels:
            raise self.error(f"{name!r} has no level {level!r}", did_you_mean(level, levels))
        return levels.index(level)

    def _lookup(self, node: ast.Subscript, depth: int) -> Expression:
        table = node.value
        if not isinstance(table, ast.Dict):
            raise self._refused(node)
        if not isinstance(node.slice, ast.Name):
            raise self.error("a table of levels is followed by [column]")
        name = self._name(node.slice)
        if not self._levels.get(name):
            raise self.error(
                f"{name!r} is not a category, so it cannot choose from a table of levels"
            )
        options: dict[int, Expression] = {}
        for key, value in zip(table.keys, table.values, strict=True):
            options[self._code(name, self._text(key, name))] = self._part(value, depth)
        absent = [level for k, level in enumerate(self._levels[name]) if k not in options]
        if absent:
            raise self.error(f"the table of levels of {name!r} lacks {absent[0]!r}")
        return Lookup(name, tuple(options[k] for k in range(len(options))))

    # Functions

    def _called(self, node: ast.expr) -> str | None:
        is_plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return node.func.id if is_plain else None  # type: ignore[attr-defined]

    def _call(self, node: ast.Call, depth: int) -> Expression:
        name = self._called(node)
        if name is None:
            raise self.error("only functions by their plain name can be called", _ALLOWED_HINT)
        if name not in _ALLOWED:
            shown = self._quoted.get(name, name)
            raise self.error(f"the function {shown!r} is not allowed", did_you_mean(name, _ALLOWED))
        if name == "choice":
            raise self.error("choice(...) must be the whole equation")
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.error("starred arguments cannot be used in an equation")
        if node.keywords:
            raise self.error("arguments are given by position, not by name")
        arguments = tuple(self._part(argument, depth) for argument in node.args)
        if name == "where":
            self._check_count(name, len(arguments), 3, 3)
            test, yes, no = arguments
            return Choose(test, yes, no, is_test_first=True)
        if name in DISTRIBUTIONS:
            n = len(DISTRIBUTIONS[name].parameters)
            self._check_count(name, len(arguments), n, n)
            self._check_parameters(name, arguments)
            return Noise(name, arguments)
        _, least, most = FUNCTIONS[name]
        self._check_count(name, len(arguments), least, most)
        if name == "round" and len(arguments) == 2:
            digits = _constant(arguments[1])
            if digits is None or digits != int(digits) or abs(digits) > 12:
                raise self.error("round(x, digits) needs a whole number of digits, such as 2")
            arguments = (arguments[0], Number(digits))
        return Apply(name, arguments)

    def _check_count(self, name: str, given: int, least: int, most: int) -> None:
        if not least <= given <= most:
            wanted = count(most, "argument") if least == most else f"{least} or {most} arguments"
            verb = "is" if given == 1 else "are"
            raise self.error(f"{name} takes {wanted}, and {given} {verb} given")

    def _check_parameters(self, name: str, parameters: Sequence[Expression]) -> None:
        if any(True for part in parameters for _ in noise_in(part)):
            raise self.error(
                f"an argument of {name} is itself drawn",
                "give that noise a column of its own; it may be hidden.",
            )

    def _choice(self, node: ast.Call) -> Choice:
        usage = 'write choice("yes", "no") or choice({"yes": 0.2, "no": 0.8}).'
        arguments = node.args
        if node.keywords or not arguments:
            raise self.error("choice takes levels, or one table of levels with weights", usage)
        if len(arguments) == 1 and isinstance(arguments[0], ast.Dict):
            table = arguments[0]
            levels = [self._text(key, self.column) for key in table.keys]
            weights = tuple(self._part(value, 1) for value in table.values)
            self._check_parameters("choice", weights)
        else:
            levels = [self._text(part, self.column) for part in arguments]
            weights = ()
        if len(levels) < 2 or len(set(levels)) < len(levels):
            raise self.error(
                f"choice has {count(len(set(levels)), 'level')}; it needs two or more, each once",
                usage,
            )
        return Choice(tuple(levels), weights)


def _folded(operator: str, parts: Sequence[Expression]) -> Expression:
    """Join truth values by and, or."""
    result, *rest = parts
    for part in rest:
        result = Apply(operator, (result, part))
    return result


def _constant(expression: Expression) -> float | None:
    """Return the number that an expression always is; None where it depends on anything."""
    if isinstance(expression, Number):
        return expression.number
    if not isinstance(expression, Apply):
        return None
    parts = [_constant(part) for part in expression.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    with np.errstate(all="ignore"):
        value = float(expression.value({}, no_noise))
    return value if math.isfinite(value) else math.inf


def _short(text: str) -> str:
    """Write an equation in a message."""
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else line[:77] + "...")


_ALLOWED_HINT = (
    "allowed are numbers, columns, + - * / **, comparisons, 'a if test else b', tables of levels "
    f"and the functions {', '.join(_ALLOWED)}."
)
assert set(_COMPARED.values()) == set(COMPARISONS)
