"""What is known: kinds of things, how they relate, and what is said of each."""

from relscape.data.dataset import EntitySet, Relation, RelationalData

__all__ = ["EntitySet", "Relation", "RelationalData"]
