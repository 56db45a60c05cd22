"""Allow ``python -m relscape``."""

from relscape.cli.main import run

run()
