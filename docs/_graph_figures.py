"""Draw the figure of the page on causal graphs: run `python docs/_graph_figures.py`."""

from pathlib import Path

import clearwood as cw

TEXT = """
gender -> {height mileage accidents}
age -> {mileage power accidents}
mileage -> accidents
"""

if __name__ == "__main__":
    import vl_convert

    chart = cw.Graph(TEXT).plot(treatment="mileage", outcome="accidents")
    picture = vl_convert.vegalite_to_svg(chart.to_dict())
    path = Path(__file__).parent / "assets" / "graph.svg"
    path.write_text(picture + "\n", encoding="utf-8")
