"""Draw the architecture: run `python docs/_architecture.py` after changing the packages."""

from pathlib import Path

STEPS = [
    ("table", "reading, kinds,\nencoding"),
    ("losses", "what a\nrisk is"),
    ("checks", "leakage,\ndrift"),
    ("models", "catalogue,\nlearners, files"),
    ("forest", "every tree model\nas plain arrays"),
    ("fitted", "one view of any\nfitted model"),
    ("resampling", "how rows\nsplit"),
    ("evaluation", "measures with\nintervals, curves"),
    ("benchmarking", "nested CV, tuning,\nintervals"),
    ("explanation\ncondensing", "sum of functions;\none proved tree"),
    ("causal", "graphs, structural\nmodels, effects"),
    ("fairness\ndatasets", "audit, fair prices;\nexample tables"),
    ("plot", "one figure\na result"),
    ("reporting", "one page"),
    ("cli", "one module\na verb"),
]
WIDTH, HEIGHT, GAP, TOP = 132, 96, 26, 56
FONT = "font-family='system-ui, sans-serif'"


def box(x: int, title: str, note: str) -> str:
    parts = [
        (
            f"<rect x='{x}' y='{TOP}' width='{WIDTH}' height='{HEIGHT}' rx='10' "
            "fill='#e8f5e9' stroke='#2e7d32' stroke-width='1.5'/>"
        )
    ]
    y = TOP + 24
    for line in title.split("\n"):
        parts.append(
            f"<text x='{x + WIDTH / 2}' y='{y}' {FONT} font-size='15' font-weight='600' "
            f"text-anchor='middle' fill='#1b5e20'>{line}</text>"
        )
        y += 19
    y += 4
    for line in note.split("\n"):
        parts.append(
            f"<text x='{x + WIDTH / 2}' y='{y}' {FONT} font-size='12' text-anchor='middle' "
            f"fill='#37474f'>{line}</text>"
        )
        y += 16
    return "".join(parts)


def draw() -> str:
    total = len(STEPS) * (WIDTH + GAP) - GAP + 2 * GAP
    base = TOP + HEIGHT + 50
    parts = [
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {total} {base + 80}' role='img' "
            "aria-label='Packages of Clearwood, left to right; each imports only from its left'>"
        ),
        f"<rect width='{total}' height='{base + 80}' fill='#ffffff'/>",
        (
            f"<text x='{GAP}' y='32' {FONT} font-size='15' fill='#37474f'>"
            "Data flows to the right; a package imports only from its left, "
            "and only public names.</text>"
        ),
    ]
    for i, (title, note) in enumerate(STEPS):
        x = GAP + i * (WIDTH + GAP)
        parts.append(box(x, title, note))
        if i:
            y = TOP + HEIGHT / 2
            parts.append(
                f"<path d='M{x - GAP + 3} {y} H{x - 5} m-6 -5 l6 5 l-6 5' fill='none' "
                "stroke='#2e7d32' stroke-width='1.5'/>"
            )
    parts.append(
        f"<rect x='{GAP}' y='{base}' width='{total - 2 * GAP}' height='52' rx='10' "
        "fill='#eceff1' stroke='#546e7a' stroke-width='1.5'/>"
        f"<text x='{total / 2}' y='{base + 31}' {FONT} font-size='15' text-anchor='middle' "
        "fill='#263238'>below all: _shared (errors, numbers, results, clock) → "
        "kernels (C++ loops on arrays), files (container without pickle)</text></svg>"
    )
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    target = Path(__file__).parent / "assets" / "architecture.svg"
    target.write_text(draw(), encoding="utf-8")
