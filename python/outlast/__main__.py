"""The program: `outlast`, or `python -m outlast`."""

from __future__ import annotations

from outlast import interrupts

# Before anything else is imported: signals come at any moment.
interrupts.install()

from outlast import processor  # noqa: E402

if (refusal := processor.refusal()) is not None:
    import sys

    print(f"outlast: {refusal}", file=sys.stderr)
    raise SystemExit(2)

from outlast.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
