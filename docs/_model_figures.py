"""Draw the figures of the pages on models: run `python docs/_model_figures.py`."""

from collections.abc import Iterator
from pathlib import Path

import clearwood as cw

ASSETS = Path(__file__).parent / "assets"


def figures() -> Iterator[tuple[str, str]]:
    """Give the pictures by name, from the models of the pages."""
    yield "tree", _tree()


def _tree() -> str:
    frame = cw.datasets.load("diabetes").to_frame()
    frame["bmi"] = frame["bmi"].where(frame.index % 4 > 0)
    frame["s5"] = frame["s5"].where(frame.index % 5 != 1)
    model = cw.learner("tree", max_depth=2).fit(frame.drop(columns="target"), frame["target"])
    return cw.condense(model).to_svg()


if __name__ == "__main__":
    for name, picture in figures():
        (ASSETS / f"model-{name}.svg").write_text(picture + "\n", encoding="utf-8")
