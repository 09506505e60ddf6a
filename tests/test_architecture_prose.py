"""The rule on sentences: code decides by fields, never by looking into text meant for readers.

A note, a unit, a message or a repr may be rewritten at any time, so nothing may depend on its
words. This reads the source for the usual ways of doing so. What is found must be in one of two
lists: `FOREIGN`, for text of other libraries that offers nothing else to decide by, and
`TO_REPAIR`, which only ever gets shorter.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import clearwood

ROOT = Path(clearwood.__file__).parent

#: Names (or their last part, as in `unit_note`) of values that are written for readers.
PROSE = {
    *("note", "notes", "message", "messages", "reason", "reasons", "hint", "hints", "sentence"),
    *("caption", "title", "subtitle", "said", "told", "complaint", "remark", "advice"),
}
#: Words for readers as well, of which code needs the meaning: these are to be enums.
ENUMS = {"unit", "scale", "quantity"}
LISTS = {"notes", "messages", "reasons", "hints", "said", "told"}
CUTTING = {
    *("startswith", "endswith", "find", "rfind", "index", "rindex", "split", "rsplit", "count"),
    *("partition", "rpartition", "removeprefix", "removesuffix", "replace", "splitlines"),
}
MATCHING = {"match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
UNCHANGED = {"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "capitalize"}
PHRASE = re.compile(r"[A-Za-z]{2,}.* .*[A-Za-z]{2,}|^ [a-z ]{2,} $")

CLASSES = re.compile(r"\[[^\]]*\]|\\.|\(\?P<\w+>")  # of patterns


def last_word(node: ast.expr) -> str:
    """Last part of the name of a variable or attribute."""
    name = getattr(node, "id", None) or getattr(node, "attr", None) or ""
    return name.strip("_").split("_")[-1]


def is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(map(is_literal, node.elts))
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def is_phrase(node: ast.AST) -> bool:
    """Whether there is a text of several words in an expression."""
    return any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and PHRASE.search(CLASSES.sub("", part.value)) is not None
        for part in ast.walk(node)
    )


class Reader(ast.NodeVisitor):
    """Finds the places in one module where text for readers is looked into."""

    def __init__(self) -> None:
        self.places: list[ast.expr] = []
        self.errors: set[str] = set()  # names of caught exceptions
        self.texts: set[str] = set()  # names of variables that hold prose

    def is_prose(self, node: ast.expr) -> bool:
        """Whether an expression is a text for readers, as far as its form shows."""
        if isinstance(node, ast.Name):
            return last_word(node) in PROSE or node.id in self.texts
        if isinstance(node, ast.Attribute):
            return last_word(node) in PROSE
        if isinstance(node, ast.Subscript):
            return self.is_prose(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            of = node.args[0] if node.args else None
            is_error = isinstance(of, ast.Name) and of.id in self.errors
            written = of is not None and (is_error or self.is_prose(of))
            return node.func.id == "repr" or (node.func.id == "str" and written)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr in UNCHANGED and self.is_prose(node.func.value)
        return False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.errors, self.texts
        self.errors, self.texts = set(self.errors), set(self.texts)
        self.generic_visit(node)
        self.errors, self.texts = outer

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.errors |= {node.name} if node.name else set()
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        # the repr of a number is how it is written into code
        if self.is_prose(node.value) and not self.is_repr(node.value):
            self.texts |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for sign, left, right in zip(node.ops, sides, sides[1:], strict=False):
            if isinstance(sign, ast.In | ast.NotIn):
                # a list of notes may hold a note once: that looks into none of them
                looks = self.is_prose(right) and (is_literal(left) or last_word(right) not in LISTS)
                names = last_word(left) in ENUMS and is_literal(right)
                bad = looks or names or (is_literal(left) and is_phrase(left))
            else:
                pairs = [(left, right), (right, left)]
                bad = any(
                    is_literal(b) and (self.is_prose(a) or last_word(a) in ENUMS) for a, b in pairs
                )
            if bad:
                self.places.append(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            way, of = node.func.attr, node.func.value
            at = ast.unparse(node.args[0]) if node.args else ""
            lines = way == "splitlines" or at == repr("\n") or (way == "split" and not at)
            cuts = way in CUTTING and (
                (self.is_prose(of) and (self.is_repr(of) or not lines))
                or last_word(of) in ENUMS
                or any(is_literal(a) and is_phrase(a) for a in node.args[:1])
            )
            # signs alone, such as a space before %, are typography
            words = last_word(of) != "re" or re.search("[a-z]{2}", CLASSES.sub("", at), re.I)
            matches = way in MATCHING and any(
                self.is_prose(a) or (last_word(a) == "text" and words) for a in node.args
            )
            compiles = way == "compile" and last_word(of) == "re" and is_phrase(node.args[0])
            if cuts or matches or compiles:
                self.places.append(node)
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        if self.is_prose(node.subject) or last_word(node.subject) in ENUMS:
            self.places.append(node.subject)
        self.generic_visit(node)

    @staticmethod
    def is_repr(node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and last_word(node.func) == "repr"


def places_in(source: str) -> list[tuple[str, int]]:
    """Expressions of a module that look into prose (their beginnings), with their lines."""
    reader = Reader()
    reader.visit(ast.parse(source))
    return [(ast.unparse(node)[:80], node.lineno) for node in reader.places]


@cache
def all_places() -> tuple[tuple[str, str, int], ...]:
    return tuple(
        (path.relative_to(ROOT).as_posix(), code, line)
        for path in sorted(ROOT.rglob("*.py"))
        for code, line in places_in(path.read_text(encoding="utf-8"))
    )


#: Text that is not ours, or not prose, with the reason why code may look into it.
FOREIGN: dict[str, list[str]] = {
    # LightGBM's model format
    "forest/importers/lightgbm.py": ["'end of trees' in text", "text.index('end of trees')"],
    # where DuckDB could not read on is in the text of its error only
    "table/sources/csv.py": [
        "re.search('CSV Error on Line: (\\\\d+)', message)",
        "re.search('Expected Number of Columns: (\\\\d+) Found: (\\\\d+)', message)",
        "'aximum line size' in message",
        "'unterminated quote' in message",
    ],
}

#: Places to repair. Delete a line with the place; nothing is ever added.
TO_REPAIR: dict[str, list[str]] = {}


def listed(lists: dict[str, list[str]]) -> set[tuple[str, str]]:
    return {(module, code) for module, codes in lists.items() for code in codes}


def test_nothing_is_decided_by_looking_into_prose():
    known = listed(FOREIGN) | listed(TO_REPAIR)
    new = [
        f"{module}:{line}: {code}"
        for module, code, line in all_places()
        if (module, code) not in known
    ]
    assert not new, "give the meaning a field instead of reading it from text:\n" + "\n".join(new)


def test_what_was_repaired_is_off_the_lists():
    here = {(module, code) for module, code, _ in all_places()}
    gone = sorted((listed(FOREIGN) | listed(TO_REPAIR)) - here)
    assert not gone, f"delete these from the lists of this file: {gone}"


@pytest.mark.parametrize(
    "code",
    [
        "if 'sampled' in note: pass",
        "if name in result.note: pass",
        "any('few rows' in note for note in notes)",
        "if unit == 'probability': pass",
        "if self.scale in ('raw', 'margin'): pass",
        "head, _, rest = str(error.message).partition(' is not ')",
        "if unit.startswith(('log', 'score')): pass",
        "if re.search('median', message): pass",
        "if re.search('median', str(error.message)): pass",
        "PATTERN = re.compile(r'(?P<name>\\w+) is not fitted')",
        "short = repr(result).partition(';')[0]",
        "first = repr(result).splitlines()[0]",
        "try: run()\nexcept ValueError as error:\n    if 'singular' in str(error): pass",
        "try: run()\nexcept ValueError as why:\n    text = str(why)\n    text.startswith('no')",
        "if 'pdp against ale' in stories: pass",
    ],
)
def test_ways_of_looking_into_prose_are_seen(code):
    assert places_in(code)


@pytest.mark.parametrize(
    "code",
    [
        "if unit is Unit.PROBABILITY: pass",
        "if result.is_sampled: print(note)",
        "if note not in notes: notes.append(note)",
        "if name == 'median': pass",
        "if 'e' in digits: pass",
        "first = str(error).partition('\\n')[0]",
        "short = ' '.join(error.message.split())",
        "text = re.sub(r'(?<=\\d) %', '%', text)",
        "text = repr(value)\nshort = text if 'e' in text else text + '.0'",
        "DATE = re.compile(r'[A-Za-z]{3,9} \\d{1,2}')",
    ],
)
def test_ordinary_code_is_let_through(code):
    assert not places_in(code)
