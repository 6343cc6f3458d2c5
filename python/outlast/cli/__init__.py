"""The command line. Each command is loaded when it is called, so that `outlast --help` answers at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from outlast import interrupts, log
from outlast.cli.failures import (
    BAD_INPUT,
    ReaderLeftError,
    check_arguments,
    drop,
    fail,
    of_exception,
    of_system,
    told_closed_pipe,
)

COMMANDS = {
    "run": ("outlast.cli.run", "Run a scenario and show, write or print what it measured."),
    "sweep": ("outlast.cli.sweep", "Run a scenario with many combinations of settings, here or on a cluster."),
    "fit": ("outlast.products.fit.command", "Fit a drive to measurements and write it as a preset."),
    "fleet": ("outlast.cli.fleet", "Find how probable a loss of data is in a cluster over years."),
    "serve": ("outlast.cli.serve", "Serve a drive or an array to real clients, over NBD."),
    "ctl": ("outlast.cli.ctl", "Query and control a running server: state, faults, power, clock."),
    "image": ("outlast.cli.image", "Export the commands recorded in an image as a trace."),
    "import": ("outlast.products.imports.command", "Make a scenario of another simulator's configuration."),
    "torture": ("outlast.products.torture.cli.group", "Test whether a program survives power loss."),
    "snapshot": ("outlast.cli.snapshot", "Precondition a drive or array and save it, for later runs to start from."),
    "validate": ("outlast.cli.scenario", "Check a scenario without running it."),
    "scenario": ("outlast.cli.scenario", "Rewrite a scenario file of an earlier version."),
    "presets": ("outlast.cli.scenario", "List the built-in scenarios, or show one."),
    "schema": ("outlast.cli.scenario", "Print the JSON Schema of scenario files."),
    "trace": ("outlast.cli.trace", "Inspect and convert block traces."),
    "report": ("outlast.cli.report", "Write the HTML report of a result, or a comparison of several."),
    "plot": ("outlast.cli.plot", "Write a chart of a result or a sweep as PDF, SVG or PNG, for a paper."),
    "table": ("outlast.cli.table", "Print figures of results or of a sweep as CSV, Markdown or LaTeX."),
    "compare": ("outlast.cli.compare", "Compare results: which settings and figures differ."),
    "policies": ("outlast.cli.policies", "List the decisions in drives and arrays, and the policies for each."),
    "explain": ("outlast.cli.explain", "Explain what limits a drive, and what faster parts would gain."),
    "plan": ("outlast.cli.plan", "Compare layouts of an array over years: capacity, risk, rebuild, wear and price."),
    "new": ("outlast.cli.new", "Make a folder for a study: scenario, sweep, checks, pinned version."),
    "docs": ("outlast.cli.docs", "Print a page of the guide, without a network."),
    "chips": ("outlast.cli.chips", "List flash chips and their error rates, or fit one to measurements."),
    "model": ("outlast.cli.model", "Evaluate closed-form models: error rates, data loss, ages, lifetime."),
    "reproduce": (
        "outlast.products.reproduce.command",
        "Reproduce figures of papers and check their statements.",
    ),
    "c-api": ("outlast.cli.capi", "Print where the C interface is: its header and its library."),
    "completion": ("outlast.cli.completion", "Print the script for shell completion."),
    "man": ("outlast.cli.man", "Print the manual page."),
}

GROUPS = {
    "Simulate": ("run", "sweep", "plan", "new", "fleet", "snapshot", "validate", "explain"),
    "Look": ("report", "plot", "table", "compare", "presets", "policies", "chips", "schema", "model"),
    "Data": ("import", "scenario", "fit", "trace", "image", "reproduce"),
    "Serve and break": ("serve", "ctl", "torture"),
    "Shell": ("docs", "completion", "man", "c-api"),
}
"""The commands as `--help` groups them; each is in one group."""

OTHER_OPTIONS = {
    "--threads": "--set run.threads=N sets the threads of a run",
    "--jobs": "--set run.threads=N sets the threads of a run; a sweep has --jobs",
    "--config": "the scenario is the argument: outlast run mine.toml",
    "--output": "a result is written by --out DIR",
    "--op": "--set device.ftl.over_provisioning=0.28 sets the spare space",
    "--iodepth": "--set workload.synthetic.queue_depth=32 sets the queue depth",
}
"""Options that others have, with what does the same here."""

SETTINGS_GIVEN = "outlast.settings"
"""Key of click's context for what --set gave."""
OF_PRESET = "preset "
"""Beginning of the place of an error in a built-in scenario."""

COMPLETE = "_OUTLAST_COMPLETE"
"""The environment variable by which a shell asks what a word may become."""


class LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps without importing them."""

    def __init__(
        self,
        *arguments: Any,
        table: Mapping[str, tuple[str, str]],
        groups: Mapping[str, Sequence[str]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self._table = table
        self._groups = groups or {"Commands": tuple(table)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        module = import_module(self._table[cmd_name][0])
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        with told_closed_pipe():
            return super().make_context(*arguments, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            check_arguments(args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self._table and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], self._table, n=1, cutoff=0.5)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(self._table)}"
            raise click.UsageError(f'no command "{args[0]}"; {hint}')
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        found = [CompletionItem(name, help=text) for name, (_, text) in self._table.items()]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in found if item.value.startswith(incomplete)] + options

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with told_closed_pipe():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.Abort from error  # click itself would print an empty line first
        except Exception as error:
            if (given := ctx.meta.pop(SETTINGS_GIVEN, None)) and str(error).startswith(OF_PRESET):
                # A preset is right by itself: what was set beside it makes it wrong.
                error.args = (f"{error} (with --set {' --set '.join(given)})",)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self._table), default=0)
        for title, names in self._groups.items():
            with formatter.section(title):
                # Padded to the widest of all, so that the texts of all groups stand in one column.
                formatter.write_dl([(name.ljust(widest), self._table[name][1]) for name in names])


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from outlast.version import named

        click.echo(f"outlast {named()}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    groups=GROUPS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="""\b
Examples:
  outlast run demo --out out/demo
  outlast run --preset hrm-200g --trace web.csv.gz --json
  outlast presets show demo > mine.toml
Exit codes: 0 done, 1 a limit of [expect] was not met, some runs of a sweep failed or torture found a bad
state, 2 invalid input (nothing was written) or output that could not be written (such as a full disk), 3 a bug
in Outlast, 130 stopped by Ctrl-C, 143 stopped by SIGTERM (the measurements so far are kept).""",
)
@click.option(
    "--version",
    is_flag=True,
    callback=_print_version,
    expose_value=False,
    is_eager=True,
    help="Print version and commit.",
)
def cli() -> None:
    """Simulate solid-state drives: latency, write amplification and wear under a workload."""


def main() -> NoReturn:
    """Runs the command line and turns every failure into one line and an exit code."""
    code = _called()
    log.ended(code)
    interrupts.ignore_signals()
    sys.exit(code)


def _called() -> int:
    try:
        if COMPLETE in os.environ:
            import_module("outlast.cli.completion")  # how each shell asks
        code = cli.main(prog_name="outlast", standalone_mode=False)
        # Now rather than when the interpreter ends, where a full disk would be a traceback.
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = BAD_INPUT
    except click.NoSuchOption as error:
        hint = OTHER_OPTIONS.get(error.option_name)
        message = f"no option {error.option_name}; {hint}" if hint else error.format_message()
        shown = f" (see {error.ctx.command_path} --help)" if error.ctx is not None else ""
        code = fail(" ".join(f"{message}{shown}".split()), BAD_INPUT)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        code = fail(" ".join(f"{error.format_message()}{hint}".split()), BAD_INPUT)
    except (click.exceptions.Abort, KeyboardInterrupt):
        code = fail(f"stopped by {interrupts.signal_name()}; {interrupts.disk_state()}", interrupts.exit_code())
    except (BrokenPipeError, ReaderLeftError):
        # The reader of our output, such as `head`, has enough.
        drop(sys.stdout)
        code = 0
    except OSError as error:
        code = of_system(error)
    except Exception as error:
        code = of_exception(error)
    return code if isinstance(code, int) else 0
