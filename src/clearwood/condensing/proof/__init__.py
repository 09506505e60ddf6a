"""What is proved about a condensed tree, and the separate checker."""
