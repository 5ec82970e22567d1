"""The live level: what claims hold on real devices, and what is wrong with it.

Works on records alone, from files or from a server; releases nothing, and reads no clock.
"""

from dracfg.audit.report import AuditReport, audit

__all__ = ["AuditReport", "audit"]
