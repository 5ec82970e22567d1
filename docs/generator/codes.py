"""The index of rules by family: title, severity, level, from where a finding can be waived, page."""

from __future__ import annotations

from docs.generator.markdown import page, table
from dracfg.diagnostics.registry import Rule, families, rules

PATH = "docs/reference/codes.md"
RULES = "../../dracfg/diagnostics/pages"
INTRODUCTION = """\
Every finding has a code; its page says what it means, why it matters and how to mend it, and `dracfg
explain CODE` prints it. *Level* is the data that the rule needs: the catalog alone (intent), recorded
ResourceSlices (inventory), or what a cluster has (live). *Waived* says where a comment may waive it,
*fixed* that `dracfg check --fix` mends it without a change of meaning."""
HEAD = ("code", "severity", "level", "what is wrong", "waived", "fixed")


def pages() -> dict[str, str]:
    """Path -> text of the index."""
    parts = [INTRODUCTION]
    for letters, family in families().items():
        rows = [_row(rule) for rule in rules().values() if rule.code.startswith(letters)]
        if rows:
            parts += [f"## {letters}: {family.title}", table(HEAD, rows)]
    return {PATH: page("Rules", "dracfg/diagnostics/rules.yaml", *parts)}


def _row(rule: Rule) -> tuple[str, ...]:
    waived = {"anywhere": "yes", "catalog": "in catalog/", "never": "no"}[rule.waivable]
    link = f"[{rule.code}]({RULES}/{rule.code}.md)"
    return link, rule.severity, rule.level, rule.title, waived, "yes" if rule.safe_fix else ""
