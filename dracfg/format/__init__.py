"""The canonical form of documents, comments kept. Knows no folder and no other document."""

from dracfg.format.canonical import Formatted, Unformatted, format_file

__all__ = ["Formatted", "Unformatted", "format_file"]
