"""The command line: the library's verbs, each from a file to a file."""

from clearwood.cli.app import main

__all__ = ["main"]
