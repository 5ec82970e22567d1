"""`dracfg version`: what this dracfg is and knows."""

from __future__ import annotations

import json

import click

from dracfg import __version__
from dracfg.cli import exits
from dracfg.kube.features import feature_matrix
from dracfg.model.base import API_VERSION


@click.command(name="version")
@click.option("--json", "as_json", is_flag=True, help="As a JSON document.")
def command(as_json: bool) -> int:
    """Print the version, the Kubernetes minors known, and the version of the language.

    Example: dracfg version --json
    """
    minors = list(feature_matrix().minors)
    if as_json:
        document = {
            "schemaVersion": 1,
            "kind": "Version",
            "version": __version__,
            "kubernetes": minors,
            "language": API_VERSION,
        }
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(f"dracfg {__version__}")
        click.echo(f"Kubernetes {', '.join(minors)}; language {API_VERSION}")
    return exits.DONE
