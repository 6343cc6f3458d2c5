"""`outlast completion`, and how the shells that it is for ask what a word may become."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from outlast.cli import COMPLETE

# bash splits words at "=" and ":", too, so that it is the line that is sent; what ends with "=" or "." goes on.
_BASH = """\
%(complete_func)s() {
    local type value response
    response=$(env COMP_WORDS="${COMP_LINE:0:$COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                COMPREPLY+=("$value")
                [[ $value == *[.=] ]] && compopt -o nospace
                ;;
        esac
    done <<< "$response"
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH_DESCRIBED = """\
    if [ -n "$completions_with_descriptions" ]; then
"""
_ZSH_OPEN = """\
    local -a open
    open=(${(M)completions:#*[.=]} ${(M)completions_with_descriptions:#*[.=]:*})
    if [ -n "$open" ]; then
        compadd -U -V unsorted -S '' -- ${open%%%%:*}
        completions=(${completions:#*[.=]})
        completions_with_descriptions=(${completions_with_descriptions:#*[.=]:*})
    fi

"""


class _Shell(ShellComplete):
    """Shell whose words complete to a file name where no other completion is known."""

    def source(self) -> str:
        return self.source_template % self.source_vars()

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        found = super().get_completions(args, incomplete)
        return found or ([] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")])


class _Bash(_Shell, BashComplete):
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        if line[-1:].isspace():
            words.append("")
        self._breaks = os.environ.get("COMP_BREAKS", "")
        self._word = words[-1] if len(words) > 1 else ""
        return words[1:-1], self._word

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Completion without the part before the last of bash's word breaks: bash replaces only the text after it."""
        ends = [self._word.rfind(sign) for sign in "=:" if sign in self._breaks]
        kept = self._word[: max(ends, default=-1) + 1]
        # Of `--set=name=value` only what comes after the first "=" is what is asked for.
        while kept and not item.value.startswith(kept):
            kept = kept.partition("=")[2]
        return f"{item.type},{item.value.removeprefix(kept)}"


class _Zsh(_Shell, ZshComplete):
    source_template = ZshComplete.source_template.replace(_ZSH_DESCRIBED, _ZSH_OPEN + _ZSH_DESCRIBED)


class _Fish(_Shell, FishComplete):
    pass


SHELLS = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
for _name, _kind in SHELLS.items():
    add_completion_class(_kind, _name)


@click.command(
    "completion",
    epilog="""\b
Examples:
  eval "$(outlast completion bash)"     # in ~/.bashrc
  eval "$(outlast completion zsh)"      # in ~/.zshrc, after compinit
  outlast completion fish > ~/.config/fish/completions/outlast.fish""",
)
@click.argument("shell", type=click.Choice(list(SHELLS)), metavar="SHELL")
def completion_command(shell: str) -> None:
    """Print the completion script for SHELL.

    It completes commands, options, presets, and names and values of settings.
    """
    root = click.get_current_context().find_root()
    click.echo(SHELLS[shell](root.command, {}, "outlast", COMPLETE).source(), nl=False)
