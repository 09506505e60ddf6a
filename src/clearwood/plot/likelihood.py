"""Figure of the log-likelihood of a mixture after each step of its fit."""

from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import count, number
from clearwood.plot.style import AXIS, chart_of, headed

if TYPE_CHECKING:
    from clearwood.models import ExpertTable

__all__ = ["plot_likelihood"]


def plot_likelihood(result: "ExpertTable") -> Any:
    """Draw the penalised log-likelihood by step; it never falls."""
    import altair as alt

    path = result.log_likelihood
    rows = [{"step": k, "log-likelihood": float(value)} for k, value in enumerate(path)]
    chart = (
        chart_of(rows)
        .mark_line(point=alt.OverlayMarkDef(size=16))
        .encode(
            x=alt.X("step:Q", title="step of EM", axis=alt.Axis(**AXIS)),
            y=alt.Y("log-likelihood:Q", scale=alt.Scale(zero=False)),
            tooltip=[alt.Tooltip("step:Q"), alt.Tooltip("log-likelihood:Q", format=".6g")],
        )
    )
    steps = count(len(path) - 1, "step")
    written = f"from {number(path[0])} to {number(path[-1])} in {steps}"
    heading = f"Log-likelihood of {len(result.experts)} experts"
    return headed(chart, heading, ["penalised, of the best start"], written, width=420, height=240)
