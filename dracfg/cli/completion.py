"""`dracfg completion`: what a shell needs to complete dracfg's command lines."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from dracfg.cli import exits

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """Print the completion of a shell: commands, options, codes, and the names of a repository.

    \b
    bash: dracfg completion bash > ~/.local/share/bash-completion/completions/dracfg
    zsh:  dracfg completion zsh > "${fpath[1]}/_dracfg"
    fish: dracfg completion fish > ~/.config/fish/completions/dracfg.fish

    Example: dracfg completion bash
    """
    script = get_completion_class(shell)
    assert script is not None
    group = context.find_root().command
    # Printed as click has it, not by `source`, which asks the bash at hand for its version.
    made = script(group, {}, "dracfg", exits.COMPLETION_VARIABLE)
    text = made.source_template % made.source_vars()
    if shell == "fish":
        # As click has it, a word or its help ends at the first comma.
        text = text.replace('string split "," $completion', 'string split -m 1 "," $completion')
    click.echo(text, nl=False)
    return exits.DONE
