"""A fitted sum of products, written out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood.models.shared.score import SumOfProducts

__all__ = ["Formula"]


@dataclass(frozen=True)
class Formula(Result):
    """A score as a constant and terms, one row for each term and output.

    Parameters
    ----------
    term
        Each term as text; "1" for the constant.
    coefficient
        What it is multiplied by.
    columns
        The columns that it involves.
    output
        The class whose score it adds to; empty where there is one score.

    Examples
    --------
    >>> print(Formula(("1", "max(0, age − 41)"), (10.0, -3.21), ((), ("age",)), ("", "")))
    10
      − 3.21 · max(0, age − 41)
    """

    term: tuple[str, ...]
    coefficient: tuple[float, ...]
    columns: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]

    @classmethod
    def of(
        cls,
        products: SumOfProducts,
        names: Sequence[str] | None,
        levels: Sequence[Sequence[str]] | None,
        *,
        outputs: Sequence[str],
    ) -> Self:
        """Write out a sum whose functions can be written."""

        def name(column: int) -> str:
            return names[column] if names is not None else f"x{column}"

        def level_names(column: int) -> tuple[str, ...]:
            return tuple(levels[column]) if levels is not None else ()

        rows: list[tuple[str, float, tuple[str, ...], str]] = []
        for position, output in enumerate(outputs):
            rows.append(("1", float(products.constant[position]), (), output))
            for term in products.terms:
                text = " · ".join(
                    basis.written(name(column), level_names(column))  # type: ignore[attr-defined]
                    for column, basis in zip(term.columns, term.bases, strict=True)
                )
                beta = float(term.coefficients.reshape(-1, len(outputs))[0, position])
                rows.append((text, beta, tuple(map(name, term.columns)), output))
        texts, betas, columns, of = zip(*rows, strict=True)
        return cls(texts, betas, columns, of)

    def __str__(self) -> str:
        lines = []
        for text, beta, output in zip(self.term, self.coefficient, self.output, strict=True):
            if text == "1":
                lines.append(f"{output}: {number(beta)}" if output else number(beta))
            else:
                lines.append(f"  {'−' if beta < 0 else '+'} {number(abs(beta))} · {text}")
        return "\n".join(lines)

    def _columns(self) -> Mapping[str, Any]:
        columns: dict[str, Any] = {"term": self.term, "coefficient": self.coefficient}
        if any(self.output):
            columns["output"] = self.output
        return columns
