"""Lints on device selectors in CEL: of tiers, of recorded DeviceClasses, of claims."""

from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.finding import LintFinding
from dracfg.check.lints.lint import compile_selector, judge_cost, lint

__all__ = ["DriverFacts", "LintFinding", "compile_selector", "judge_cost", "lint"]
