"""
# Everything on one page

The report: summary, data, performance, explanations, single patients, cautions. One file, no
network.
"""

import tempfile
from pathlib import Path

# mkdocs_gallery_thumbnail_path = 'assets/report.png'
import clearwood as cw

patients = cw.datasets.load("diabetes").select(["sex", "bmi", "bp", "s5", "target"])
model = cw.learner("ols").fit(patients)
page = cw.report(model, patients, quick=True)
for section in page.sections:
    print(section.title)

# %%
# Save it and open it in a browser.

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "report.html"
    page.save(file)
    print(f"{file.stat().st_size / 1e6:.1f} MB")
