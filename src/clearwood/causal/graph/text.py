"""Graphs as text: Clearwood's own, dagitty's and the plain part of Graphviz's."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.causal.graph.sketch import Sketch, Word

__all__ = ["parse", "quoted"]

#: How deep braces may nest.
DEEPEST = 40
ARROWS = {"->": "->", "<-": "<-", "<->": "<->", "→": "->", "←": "<-", "↔": "<->"}
#: Words in brackets that mark a node, in dagitty's long and short spellings.
WORDS: dict[str, Word] = {
    "latent": "latent",
    "hidden": "latent",
    "unobserved": "latent",
    "l": "latent",
    "u": "latent",
    "exposure": "exposure",
    "treatment": "exposure",
    "e": "exposure",
    "outcome": "outcome",
    "o": "outcome",
    "adjusted": "adjusted",
    "a": "adjusted",
}
#: Values with which a setting marks a node, as Graphviz writes them.
YES, NO = {"true", "yes", "1"}, {"false", "no", "0"}
#: Words of Graphviz that set the look of all nodes or arrows.
DEFAULTS = {"node", "edge", "graph"}
#: Kinds of graphs that headers name: those that are read, and those with other marks than arrows.
READ = {"dag", "digraph"}
REFUSED = {"pdag", "cpdag", "mag", "pag", "graph", "strict"}

_PARTS = {
    "number": r"(?<==)\s*[+-]?[.\d][^\s,;\]}]*",
    "space": r"\s+|//[^\n]*|/\*.*?\*/|#[^\n]*",
    "mark": r"<->|<-@|@->|@-@|@--|--@|->|<-|---?|[→←↔@]|<",
    "quoted": r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'",
    "sign": r"[{}\[\];,=]",
    "name": r"""[^\s{}\[\];,="'<>#@→←↔-](?:[^\s{}\[\];,="<>#@→←↔-]|-(?=\w))*""",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{part})" for kind, part in _PARTS.items()), re.DOTALL)
_SIGNS = re.compile(r"[!-/:-@^`|~\\]+")
_PLAIN = re.compile(r"[^\W\d][\w.]*|\d+")


@dataclass(frozen=True)
class _Token:
    """A part of the text: its kind, what it stands for, and where it begins."""

    kind: str
    value: str
    at: int


def parse(text: str) -> Sketch:
    """Read a graph from its text.

    Statements are separated by semicolons, line ends or spaces. `a -> b <- c` are two arrows,
    `{a b} -> c` too, and `a <-> b` is a hidden common cause. Brackets mark nodes: `u [latent]`.
    Names with spaces or signs stand in quotes; `#` begins a comment.

    Examples
    --------
    >>> list(parse("a -> b <- c; {a b} -> d").arrows)
    [('a', 'b'), ('c', 'b'), ('a', 'd'), ('b', 'd')]
    >>> list(parse('dag { "body mass" [exposure, pos="0,1"] "body mass" -> y }').arrows)
    [('body mass', 'y')]
    """
    return _Parser(text.removeprefix("\ufeff")).read()


def quoted(name: str) -> str:
    r"""Write the name of a node so that `parse` reads it.

    Examples
    --------
    >>> quoted("age"), quoted("body mass"), quoted('a "b"')
    ('age', '"body mass"', '"a \\"b\\""')
    """
    if _PLAIN.fullmatch(name) and name not in READ | REFUSED:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tokens(source: str) -> Iterator[_Token]:
    """Cut a text into its parts."""
    at = 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:
            raise _unreadable(
                source, at, f"{source[at]!r} has no meaning here", _hint_at(source, at)
            )
        kind = found.lastgroup or ""
        if kind == "space":
            if found.group()[0] == "#" and at and not source[at - 1].isspace():
                before = source[at - 1]
                if before not in ";}]{,":
                    raise _unreadable(
                        source, at, "a comment follows a name without a space", "quote the name."
                    )
        elif kind == "quoted":
            yield _Token("name", re.sub(r"\\(.)", r"\1", found.group()[1:-1], flags=re.DOTALL), at)
        elif kind == "mark" and found.group() not in ARROWS:
            raise _unreadable(
                source, at, f"the mark {found.group()} is not supported", _hint_at(source, at)
            )
        else:
            kind = "name" if kind == "number" else kind
            yield _Token(kind, ARROWS.get(found.group(), found.group()), at)
        at = found.end()


def _hint_at(source: str, at: int) -> str:
    """Suggest what to write instead of a mark that has no meaning in a causal graph."""
    mark = source[at : at + 3]
    if "@" in mark:
        return (
            "circles are marks of a class of graphs (PAG). Choose one graph of it: write -> or "
            "<-, or <-> for a hidden common cause."
        )
    if mark[:1] in {"-", "<", ">"}:
        return "an edge needs a direction: write -> or <-, or <-> for a hidden common cause."
    if mark[:1] in {'"', "'"}:
        return "a quotation mark has no partner."
    return "names with spaces or signs stand in quotes."


def _unreadable(source: str, at: int, what: str, hint: str | None = None) -> InputError:
    """Make the error for a text, with the place that cannot be read."""
    line = source.count("\n", 0, at) + 1
    start = source.rfind("\n", 0, at) + 1
    end = source.find("\n", at)
    end = len(source) if end < 0 else end
    near = source[max(start, at - 30) : min(end, at + 30)].strip()
    where = f" in line {line}" if "\n" in source.strip() else ""
    shown = f", near {near!r}" if near else ""
    return InputError(
        f"the text of the graph cannot be read{where}{shown}: {what}",
        parameter="source",
        value=source,
        hint=hint,
    )


class _Parser:
    """Reads statements from left to right."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = list(_tokens(source))
        self.at = 0
        self.sketch = Sketch()
        self.is_graphviz = False

    def read(self) -> Sketch:
        """Read the header, where there is one, and all statements."""
        in_braces = self._header()
        self._statements(0, until="}" if in_braces else None)
        if self.at < len(self.tokens):
            self._fail(
                "a closing brace has no partner" if self._sign("}") else "the graph has ended"
            )
        return self.sketch

    def _header(self) -> bool:
        """Pass over `dag name {` and return whether it is there."""
        first = self.tokens[0] if self.tokens else None
        if first is None or first.kind != "name" or first.value.casefold() not in READ | REFUSED:
            return False
        has_name = len(self.tokens) > 1 and self.tokens[1].kind == "name"
        opening = 2 if has_name else 1
        if not self._sign("{", ahead=opening):
            return False
        if first.value.casefold() in REFUSED:
            self._fail(
                f"a graph of the kind {first.value!r} is not supported",
                "write dag { … } with arrows only; <-> is a hidden common cause.",
            )
        self.at = opening + 1
        self.is_graphviz = first.value.casefold() == "digraph"
        return True

    def _statements(self, depth: int, until: str | None) -> list[str]:
        """Read statements up to a brace, and return the nodes that they name."""
        named: dict[str, None] = {}
        while self.at < len(self.tokens):
            if self._sign("}"):
                if until is None:
                    return list(named)
                self.at += 1
                return list(named)
            if self._sign(";") or self._sign(","):
                self.at += 1
            elif self._sign("=", ahead=1):  # a setting of the whole picture: bb="0,0,1,1"
                self.at = min(self.at + 3, len(self.tokens))
            elif self._sets_defaults():
                self.at += 1
                list(self._words())
            else:
                named |= dict.fromkeys(self._chain(depth))
        if until is not None:
            self._fail("a brace has no partner")
        return list(named)

    def _sets_defaults(self) -> bool:
        """Whether a statement of Graphviz follows that names no node: `node [shape=box]`."""
        token = self.tokens[self.at]
        is_word = token.value in DEFAULTS and self.source.startswith(token.value, token.at)
        return self.is_graphviz and is_word and self._sign("[", ahead=1)

    def _chain(self, depth: int) -> list[str]:
        """Read terms joined by arrows."""
        term = self._term(depth)
        named = list(term)
        self._brackets(term)
        while self.at < len(self.tokens) and self.tokens[self.at].kind == "mark":
            arrow = self.tokens[self.at].value
            self.at += 1
            right = self._term(depth)
            self._join(term, arrow, right)
            self._brackets(right, is_edge=True)
            named += right
            term = right
        return named

    def _term(self, depth: int) -> list[str]:
        """Read one name, or several in braces."""
        if self.at >= len(self.tokens):
            self._fail("an arrow has no end")
        token = self.tokens[self.at]
        if token.value == "{" and token.kind == "sign":
            if depth >= DEEPEST:
                self._fail("braces nest too deep")
            self.at += 1
            named = self._statements(depth + 1, until="}")
            if not named:
                self.at -= 1
                self._fail("there is no node between the braces")
            return named
        if token.kind != "name":
            self._fail(f"{token.value!r} stands where a name is expected")
        if not token.value.strip():
            self._fail("a name is empty")
        if _SIGNS.fullmatch(token.value) and self.source.startswith(token.value, token.at):
            self._fail(
                f"{token.value!r} has no meaning here",
                "names with spaces or signs stand in quotes.",
            )
        self.at += 1
        self.sketch.nodes[token.value] = None
        return [token.value]

    def _join(self, left: Iterable[str], arrow: str, right: Iterable[str]) -> None:
        """Add the arrows between two terms."""
        right = list(right)
        for one in left:
            for other in right:
                if arrow == "<->":
                    if one == other:
                        self._fail(f"{one!r} <-> {other!r} joins a node with itself")
                    self.sketch.share(one, other)
                elif arrow == "->":
                    self.sketch.add(one, other)
                else:
                    self.sketch.add(other, one)

    def _brackets(self, term: list[str], *, is_edge: bool = False) -> None:
        """Read the marks and settings in brackets that follow a term."""
        while self._sign("["):
            opening = self.at
            words = list(self._words())
            marks = [mark for mark in (self._mark(*word) for word in words) if mark]
            follows = self.at < len(self.tokens) and self.tokens[self.at].kind == "mark"
            if marks and is_edge and not follows:
                self.at = opening
                self._fail(
                    "brackets at the end of an arrow belong to the arrow",
                    f"write {quoted(term[-1])} [{words[0][0]}] as a statement of its own.",
                )
            for mark in marks:
                self.sketch.marked[mark] |= dict.fromkeys(term)

    def _words(self) -> Iterator[tuple[str, str | None]]:
        """Give the words between brackets, each with the value that is set to it."""
        opening = self.at
        self.at += 1
        while not self._sign("]"):
            if self.at >= len(self.tokens):
                self.at = opening
                self._fail("a bracket has no partner")
            token = self.tokens[self.at]
            self.at += 1
            if token.kind == "name":
                value = None
                if self._sign("="):
                    self.at += 1
                    if self.at >= len(self.tokens) or self.tokens[self.at].kind != "name":
                        self._fail(f"no value is set to {token.value!r}")
                    value = self.tokens[self.at].value
                    self.at += 1
                yield token.value, value
            elif token.value not in {",", ";"}:
                self.at -= 1
                self._fail(f"{token.value!r} stands where a mark of a node is expected")
        self.at += 1

    def _mark(self, word: str, value: str | None) -> Word | None:
        """Return the mark that a word in brackets stands for; None for other settings."""
        known = WORDS.get(word.casefold())
        if value is not None:
            if word.casefold() == "observed":  # how DoWhy marks them
                return "latent" if value.casefold() in NO else None
            return known if len(word) > 1 and value.casefold() in YES else None
        if known is None:
            self.at -= 1
            hint = "it marks rows that were selected; leave it out." if word == "selected" else None
            self._fail(
                f"{word!r} is not a known mark of a node",
                hint or did_you_mean(word, ["latent", "exposure", "outcome", "adjusted"]),
            )
        return known

    def _sign(self, value: str, *, ahead: int = 0) -> bool:
        """Whether the next part, or one further ahead, is a sign."""
        if self.at + ahead >= len(self.tokens):
            return False
        token = self.tokens[self.at + ahead]
        return token.kind == "sign" and token.value == value

    def _fail(self, what: str, hint: str | None = None) -> NoReturn:
        """Raise the error for the part that is read."""
        where = self.tokens[self.at].at if self.at < len(self.tokens) else len(self.source)
        raise _unreadable(self.source, where, what, hint)
