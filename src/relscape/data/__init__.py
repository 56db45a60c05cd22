"""What is known: kinds of things, how they relate, and what is said of each."""

from relscape.data.dataset import EntitySet, Relation, RelationalData
from relscape.data.triples import KnowledgeGraph

__all__ = ["EntitySet", "KnowledgeGraph", "Relation", "RelationalData"]
