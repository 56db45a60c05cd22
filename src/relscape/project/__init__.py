"""Studies from one command: published experiments as data, run again, and told honestly."""
