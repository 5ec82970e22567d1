"""The one way to speak of a fault: what it is, where it stands, how to mend it.

Knows nothing of the input language or of Kubernetes; every other package imports from here.
"""

from dracfg.diagnostics.diagnostic import Diagnostic, Related, Severity, Waived, diagnose, sort_key
from dracfg.diagnostics.span import Span
from dracfg.diagnostics.suggestion import did_you_mean

__all__ = [
    "Diagnostic",
    "Related",
    "Severity",
    "Span",
    "Waived",
    "diagnose",
    "did_you_mean",
    "sort_key",
]
