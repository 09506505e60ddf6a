"""From sections to one HTML file: templates, style, script and the policy that locks them."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from clearwood.reporting.page.blocks import Block, Section
from clearwood.reporting.page.cells import is_numeric, written_rows
from clearwood.reporting.page.figures import figure
from clearwood.reporting.page.pack import island

__all__ = ["prepare", "render", "typeset"]

_HERE = Path(__file__).parent
_STYLES = ("page.css", "rows.css", "tree.css")
# One script, in this order: what stands later may use what stands earlier.
_SCRIPTS = (
    "core.js",
    "charts.js",
    "chart_data.js",
    "sheets.js",
    "choices.js",
    "model.js",
    "shapley.js",
    "rows_words.js",
    "waterfall.js",
    "what_if.js",
    "rows_list.js",
    "rows.js",
    "tree.js",
    "files.js",
    "boot.js",
)

_VEGA_NOTICE = """/*!
Vega, Vega-Lite and Vega-Embed.
Copyright (c) University of Washington Interactive Data Lab and contributors. BSD-3-Clause.
With parts of D3, Copyright Mike Bostock. ISC.
*/
"""
# What the page's script calls; the rest of the bundle is private to it.
_VEGA_USED = "window.vegaEmbed = vegaEmbed;"


def render(title: str, sections: Sequence[Section], about: Sequence[tuple[str, str]] = ()) -> str:
    """Make the page; ``about`` has pairs of a name and a value, shown below the heading."""
    style, head, script, vega = _style(), _static("head.js"), _script(), _vega()
    page = _environment().get_template("page.html.j2")
    return page.render(
        title=title,
        about=about,
        sections=sections,
        style=Markup(style),  # noqa: S704 - ours, as are the three below
        head=Markup(head),  # noqa: S704
        script=Markup(script),  # noqa: S704
        vega=Markup(vega),  # noqa: S704
        policy=_policy(scripts=(head, script, vega), styles=(style,)),
        unique=_Names(),
    )


def prepare() -> None:
    """Put together what all pages share, which takes longer than the rest of a page."""
    _style(), _script(), _vega(), _environment()


def _policy(*, scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Allow these scripts and styles, to the letter, and nothing else: no request of any kind."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


class _Names:
    """Identifiers that occur once on a page, near to the names that the blocks have."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, name: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "part"
        unique, count = stem, 1
        while unique in self._taken:
            count += 1
            unique = f"{stem}-{count}"
        self._taken.add(unique)
        return unique


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= {
        "kind": _kind,
        "island": island,
        "figure": figure,
        "written_rows": written_rows,
        "is_numeric": is_numeric,
        "typeset": typeset,
    }
    return environment


def typeset(line: str) -> str:
    r"""Keep a number and its unit on one line.

    Examples
    --------
    >>> typeset("a 90 % interval, in 12 s")
    'a 90\xa0% interval, in 12\xa0s'
    """
    return re.sub(r"(?<=\d) (?=(%|ms|s|min|h|kB|MB|GB)(?!\w))", "\u00a0", line)


def _kind(block: Block) -> str:
    if not isinstance(block, Block):
        raise TypeError(f"a section holds {type(block).__name__!r}, which is not a kind of block")
    return type(block).__name__


@cache
def _static(name: str) -> str:
    return (_HERE / "static" / name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    return "\n".join(_static(name) for name in _STYLES)


@cache
def _script() -> str:
    parts = "\n".join(_static(name) for name in _SCRIPTS)
    return _inline(f'(() => {{\n"use strict";\n{parts}\nboot();\n}})();\n')


@cache
def _vega() -> str:
    """Return Vega's script, which takes a second or two to put together."""
    import vl_convert

    return _inline(f"{_VEGA_NOTICE}(() => {{{vl_convert.javascript_bundle(_VEGA_USED)}}})();\n")


def _inline(script: str) -> str:
    """Let no text within a script end its element; in strings and patterns both mean the same."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", script, flags=re.IGNORECASE)
