"""The front door of the command line, also as ``python -m relscape``."""

from __future__ import annotations

import sys

__all__ = ["start"]


def start() -> None:
    """Load the command line and run it; Ctrl-C while it loads ends it as quietly as later on."""
    try:
        from relscape.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    start()
