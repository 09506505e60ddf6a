"""The whole model, term by term: for models that are a sum of few functions of few columns."""

from typing import Any

import numpy as np

from clearwood._shared.numbers import cell, count, percent
from clearwood.explanation import BANDS, FEW_FREEDOM, Coefficients, TermRow
from clearwood.reporting.collect.findings import Findings, Step
from clearwood.reporting.page.blocks import Block, Choice, Note, Prose, Section, Sheet
from clearwood.reporting.page.figures import chart
from clearwood.reporting.sections.words import listed, named, number, sentence, value_of

__all__ = ["TITLE", "section"]

TITLE = "The whole model"
# Of shares: a thousandth is the least that is listed.
_DECIMALS = 5
#: Rows far out that are listed.
_MOST_DOUBTED = 5


def section(findings: Findings) -> Section | None:
    """Write the section; none for models that are not a sum of few terms."""
    if findings.terms is None and findings.coefficients is not None:
        return Section("terms", TITLE, tuple(_linear(findings)))
    if findings.terms is None and findings.equation is not None:
        return Section("terms", TITLE, tuple(_equation(findings.equation)))
    if findings.terms is None:
        why = findings.failures.get(Step.TERMS)
        if why is None:
            return None
        return Section("terms", TITLE, (Note("The terms are not known", sentence(why)),))
    blocks = [
        _introduction(findings),
        _sheet(findings),
        *_outside(findings),
        *_doubted(findings),
        *_figures(findings),
    ]
    blocks += [] if findings.coefficients is None else _coefficients(findings.coefficients)
    return Section("terms", TITLE, tuple(blocks))


def _linear(findings: Findings) -> list[Block]:
    """Write a linear model as the table of its coefficients."""
    table = findings.coefficients
    assert table is not None
    text = (
        f"The model is linear: the constant, plus for each number its coefficient times the value, "
        f"plus for each category the coefficient of its level, is the {table.unit} of "
        f"{named(table.outcome)}. A level is compared with the base level of its column. What this "
        "section shows is the whole model."
    )
    if table.ratio_name == "ratio":
        text += (
            " The exponentials multiply: the prediction is the ratio of the constant times those "
            "of one unit to the power of each number, times those of the levels."
        )
    return [Prose((text,), lead=True), *_coefficients(table)]


def _coefficients(table: Coefficients) -> list[Block]:
    """Return the table of coefficients and what to know about it."""
    in_units: dict[str, Any] = {
        "coefficient": table.values,
        "standard error": table.standard_errors,
        "low": table.low,
        "high": table.high,
        **({} if table.prior_low is None else {"prior, low": table.prior_low}),
        **({} if table.prior_high is None else {"prior, high": table.prior_high}),
    }
    numbers: dict[str, Any] = {
        **in_units,
        "p-value": table.p_values,
        **({} if table.r_hat is None else {"R-hat": table.r_hat}),
        **({} if table.effective_size is None else {"effective draws": table.effective_size}),
        **({} if table.ratios is None else {str(table.ratio_name): table.ratios}),
        f"share of {table.counted_by}": table.shares,
    }
    known = {name: values for name, values in numbers.items() if np.isfinite(values).any()}
    rows = tuple(
        (name, *(_cell(values[i]) for values in known.values()))
        for i, name in enumerate(table.names())
    )
    errors = "" if table.errors is None else f", {percent(table.confidence)} intervals"
    caption = f"Coefficients{errors}; {_ERRORS[table.errors]}"
    return [
        # a coefficient is in the units of its line
        Sheet("coefficients", caption, ("line", *known), rows, shown=40, mixed=tuple(in_units)),
        *(Note("About the coefficients", sentence(note)) for note in table.notes),
    ]


def _equation(equation: Any) -> list[Block]:
    """Write a model that is not a sum of few terms line by line, as the library prints it."""
    frame = equation.to_frame("dict")
    columns = {name: [_plain(value) for value in values] for name, values in frame.items()}
    lines = tuple(zip(*columns.values(), strict=True))
    text = "The model can be written out line by line; cw.models.equation(model) prints it in full."
    if not lines:
        text = "The model predicts the same for every row: there is nothing to write out."
    notes = tuple(sentence(note) for note in getattr(equation, "notes", ()))
    headings = tuple(name.replace("_", " ") for name in columns)
    blocks: list[Block] = [Prose((text, *notes), lead=True)]
    if lines:
        caption = "The model, line by line"
        blocks.append(Sheet("equation", caption, headings, lines, shown=40, mixed=headings))
    if lines and hasattr(equation, "plot"):
        blocks.append(chart("equation", equation.plot()))
    return blocks


def _plain(value: Any) -> str | float | None:
    return _cell(float(value)) if isinstance(value, int | float | np.number) else str(value)


def _cell(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None


_ERRORS = {
    None: "no standard errors",
    "model": "standard errors by the model",
    "robust": "robust standard errors (HC1)",
    "cluster": "standard errors clustered by group",
    "posterior": "standard errors are posterior standard deviations",
}


def _introduction(findings: Findings) -> Prose:
    table, decomposition = findings.terms, findings.decomposition
    assert table is not None
    assert decomposition is not None
    n_terms = len(table.terms) + table.n_rest
    constant = "a constant"
    if isinstance(decomposition.baseline, float):
        constant = value_of(decomposition.baseline)
    text = (
        f"The model is {constant} plus {count(n_terms, 'term')}, which add up to the "
        f"{decomposition.about.unit} of every row. Nothing is left out or approximated: what this "
        "section shows is the model."
    )
    if table.n_rest:
        text += (
            f" {count(table.n_rest, 'term')} with less than {percent(table.least)} of the variance "
            f"each are counted as the rest; together they have {percent(table.rest_share)}."
        )
    paragraphs = [text]
    bands = {effect.band for effect in findings.term_effects if effect.band is not None}
    if bands:
        source = next(iter(bands))
        confidence = percent(findings.term_effects[0].confidence)
        meaning = "how far each curve could move with other training data, the mean included"
        if source == "posterior":
            meaning = "given the data and the priors, this is the probability of the values inside"
        freedom = min(effect.band_freedom for effect in findings.term_effects)
        few = (
            f", with {number(freedom)} degrees of freedom or more" if freedom < FEW_FREEDOM else ""
        )
        paragraphs.append(
            f"Bands are {confidence} pointwise bands from {BANDS[source]}{few}: {meaning}."
        )
    return Prose(tuple(paragraphs), lead=True)


def _sheet(findings: Findings) -> Sheet:
    """Return the term table, with the columns that the model knows something about."""
    table = findings.terms
    assert table is not None
    has = {
        name: any(getattr(term, name) is not None for term in table.terms)
        for name in ("edf", "p_value", "monotone", "low")
    }
    kept = [name for name in ("edf", "p_value", "monotone") if has[name]]
    headings = {"edf": "edf", "p_value": "p-value", "monotone": "monotone"}
    columns = ("term", "order", "share", *(headings[name] for name in kept))
    columns += ("training range",) if has["low"] else ()
    rows: list[tuple[Any, ...]] = []
    for term in table.terms:
        share = round(term.share, _DECIMALS)
        row = (term.name, term.order, share, *(getattr(term, name) for name in kept))
        rows.append((*row, _range(findings, term)) if has["low"] else row)
    if table.n_rest:
        empty = len(columns) - 3
        name = f"the rest ({count(table.n_rest, 'term')})"
        rows.append((name, None, round(table.rest_share, _DECIMALS), *[None] * empty))
    caption = "The terms by their share of the variance"
    if has["edf"]:
        caption += "; edf: effective degrees of freedom, 1 for a straight line"
    return Sheet("terms", caption, columns, tuple(rows), shown=40, bars=("share",))


def _range(findings: Findings, term: TermRow) -> str | None:
    """Write the range of the training rows; of a category, how many levels it has."""
    if term.order > 1:
        return None
    column = findings.table.column(term.columns[0])
    if term.low is None or term.high is None:
        return count(len(column.levels), "level") if column.is_coded else None
    if column.values.dtype.kind == "M":
        first, last = (np.datetime64(int(day), "D") for day in (term.low, term.high))
        return f"{first} to {last}"
    return f"{cell(term.low)} to {cell(term.high)}"


def _outside(findings: Findings) -> list[Block]:
    """Count the rows that the model extrapolates for."""
    table = findings.terms
    assert table is not None
    if table.n_outside is None:
        return []
    items = [f"{named(name)}: {count(n, 'row')}" for name, n in (table.outside or {}).items()]
    text = f"{table.n_outside:,} of the {count(table.n_rows, 'row')} of this page"
    tested = findings.test_outside
    if tested is not None:
        text += f" and {tested.n_outside:,} of the {tested.n_rows:,} test rows"
    any_outside = table.n_outside + (0 if tested is None else tested.n_outside)
    return [
        Note(
            "Rows outside the training range",
            f"{text} have a value that no training row reached.",
            tone="caution" if any_outside else "good",
            items=tuple(items),
        )
    ]


def _doubted(findings: Findings) -> list[Block]:
    """Name the training rows that would have decided where a curve ends."""
    table = findings.terms
    assert table is not None
    if not table.doubted:
        return []
    has, it, contradicts = (
        ("lies", "counts", "contradicts")
        if len(table.doubted) == 1
        else ("lie", "count", "contradict")
    )
    items = [
        f"{', '.join(f'{named(name)} {number(value)}' for name, value in one.values.items())}: "
        f"counts as {number(one.counts_as)} of a row"
        for one in table.doubted[:_MOST_DOUBTED]
    ]
    return [
        Note(
            "Single rows at the ends of curves",
            f"{count(len(table.doubted), 'training row')} {has} far beyond all others and "
            f"{contradicts} what these would lead one to expect, so {it} less. Curves of these "
            "columns are constant beyond the other rows. Check whether the values are right.",
            tone="caution",
            # on a page without rows, no value of a single one
            items=tuple(items) if findings.options.has_rows else (),
        )
    ]


def _figures(findings: Findings) -> list[Block]:
    """Draw every term: curves and bars of levels one below the other, surfaces to choose from."""
    table = findings.terms
    assert table is not None
    drawn = {effect.columns: effect for effect in findings.term_effects}
    blocks: list[Block] = []
    surfaces: list[tuple[str, tuple[Block, ...]]] = []
    for k, term in enumerate(table.terms):
        effect = drawn.get(term.columns)
        if effect is None:
            continue
        title = f"{listed(term.columns)} ({percent(term.share)} of the variance)"
        figure = chart(f"term-{k}", effect.plot(), title=title)
        if term.order == 1:
            blocks.append(figure)
        else:
            surfaces.append((f"{listed(term.columns)} ({percent(term.share)})", (figure,)))
    if surfaces:
        text = (
            f"{count(len(surfaces), 'term')} of two columns: what is added beyond the terms of the "
            "single columns. Orange cells are predicted higher, blue cells lower."
        )
        blocks += [Prose((text,)), Choice("term-pairs", "Term", tuple(surfaces))]
    many = [term for term in table.terms if term.order > 2]
    if many and findings.options.has_rows:
        blocks.append(
            Note(
                f"{count(len(many), 'term')} of three columns",
                "They are in the table but not drawn. cw.explain gives their values for any row.",
                items=tuple(f"{listed(t.columns)}: {percent(t.share)}" for t in many),
            )
        )
    return blocks
