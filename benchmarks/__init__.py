"""Speed and memory beside named peers, measured in one run."""
