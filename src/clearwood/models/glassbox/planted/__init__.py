"""Random planted forests: trees for small sets of columns, added up."""
