"""Bytes → node trees that know file, line and column. Knows nothing of the input language."""

from dracfg.source.files import SourceFile
from dracfg.source.nodes import Document, Entry, Map, Node, Scalar, Seq, follow, kind_of
from dracfg.source.reader import ROOTS, Sources, read_file, read_repository, read_trees

__all__ = [
    "ROOTS",
    "Document",
    "Entry",
    "Map",
    "Node",
    "Scalar",
    "Seq",
    "SourceFile",
    "Sources",
    "follow",
    "kind_of",
    "read_file",
    "read_repository",
    "read_trees",
]
