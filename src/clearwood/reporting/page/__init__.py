"""From sections to one HTML file: blocks, figures, templates, style and script."""
