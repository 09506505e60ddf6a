"""A model that the page's script can compute with: what-ifs without Python."""
