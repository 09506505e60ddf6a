"""Write the page of learners: run `python docs/_catalogue.py` after changing the catalogue."""

import re
from pathlib import Path
from typing import Any

from clearwood.models import Choice, Entry, catalogue

PAGE = Path(__file__).parent / "reference" / "catalogue.md"

OPENING = """\
# Catalogue of learners

<!-- written by docs/_catalogue.py from the entries; change those instead -->

Each learner comes from the library named as its source; Clearwood adds the encoding of the table,
the defaults and the tuning space. *Reading* is how a prediction can be explained: a glass box is a
sum of functions of few columns, a tree model can be explained exactly, a black box only by
sampling. The loss determines what a prediction estimates, so compare *estimates* before comparing
learners. Every learner can [choose its columns inside the fit](../models/selection.md) with
`select=` or `--select`.

*Described in* names the paper or book to read, with the chapters and sections of books: Bishop
(2006), *Pattern Recognition and Machine Learning*; Gelman and others (2013), *Bayesian Data
Analysis*; Goodfellow, Bengio and Courville (2016), *Deep Learning*; Hastie, Tibshirani and
Friedman (2009), *The Elements of Statistical Learning*; McCullagh and Nelder (1989), *Generalized
Linear Models*; Siddiqi (2017), *Intelligent Credit Scoring*. The pages on [interpretable
learning](../seeds/interpretable-learning.md) and its neighbours go through the mathematics.
"""

ENCODING = {
    "onehot": "categories one-hot",
    "ordinal": "categories as level numbers",
    "native": "categories by the library itself",
    "target": "categories by their mean target",
}


def page() -> str:
    """Return the whole page."""
    entries = catalogue.built_in()
    lines = [OPENING]
    lines += ["| learner | what it is | tasks | reading |", "|---|---|---|---|"]
    lines += [
        f"| [`{entry.name}`](#{entry.name}) | {entry.title} | {tasks(entry)} | {entry.reading} |"
        for entry in entries
    ]
    for entry in entries:
        lines += ["", *section(entry)]
    return "\n".join(lines) + "\n"


def tasks(entry: Entry) -> str:
    order = ["regression", "count", "amount", "binary", "multiclass"]
    return ", ".join(task for task in order if task in entry.tasks)


def section(entry: Entry) -> list[str]:
    needs = f"; install `clearwood[{entry.extra}]`" if entry.extra else ""
    encoding = [
        ENCODING[entry.categories] + (", most frequent level left out" if entry.reference else ""),
        "missing values " + ("kept as they are" if entry.missing == "native" else "imputed"),
        *(["numbers standardised"] if entry.scale else []),
    ]
    lines = [
        f"## {entry.name}",
        "",
        f"{entry.title}. Family: {entry.family}.",
        "",
        *([entry.advice, ""] if entry.advice else []),
        f"{entry.how_to_read}{page_of(entry)}",
        "",
        *picture_of(entry),
        f"- **Loss:** {escaped(entry.loss)}",
        f"- **Estimates:** {entry.estimates}",
        f"- **From:** {entry.source}{needs}",
        f"- **Described in:** {entry.described_in}",
        f"- **Encoding:** {'; '.join(encoding)}",
        *(["- **Monotone constraints:** yes"] if entry.monotone else []),
    ]
    if entry.defaults:
        lines += ["", "| setting | default | tuned over |", "|---|---|---|"]
        lines += [
            f"| `{name}` | `{default!r}` | {searched(entry.space.get(name))} |"
            for name, default in entry.defaults.items()
        ]
    return lines


def page_of(entry: Entry) -> str:
    """Return a link to the page of a learner, where it has one."""
    return f" More on [its page](../models/{entry.page}.md)." if entry.page else ""


def picture_of(entry: Entry) -> list[str]:
    """Return the picture of a learner: the first of its page, or the one named."""
    if not entry.page:
        return []
    text = (PAGE.parents[1] / "models" / f"{entry.page}.md").read_text(encoding="utf-8")
    pictures = re.findall(r"^!\[.*?\]\(\.\./assets/.*?\)$", text, re.MULTILINE)
    named = [one for one in pictures if entry.picture in one]
    return [named[0], ""]


def searched(dimension: Any) -> str:
    if dimension is None:
        return ""
    if isinstance(dimension, Choice):
        return ", ".join(f"`{value!r}`" for value in dimension.values)
    return f"{dimension.low:g} to {dimension.high:g}" + (", by magnitude" if dimension.log else "")


def escaped(text: str) -> str:
    """Keep Markdown from reading |β| as a table and * as emphasis."""
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
