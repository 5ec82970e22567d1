"""Writes every generated page, and takes away those of kinds that are gone."""

from docs.generator import ROOT, pages
from docs.generator.markdown import MADE

made = pages()
for path, text in made.items():
    file = ROOT / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
for file in (ROOT / "docs" / "reference").rglob("*.md"):
    if str(file.relative_to(ROOT)) not in made and file.read_text(encoding="utf-8").startswith(
        MADE
    ):
        file.unlink()
