"""The same models on Dask: relations that outgrow one machine, in blocks on the workers of a cluster."""

from relscape.distributed.cluster import connect
from relscape.distributed.features import DistributedFeatures
from relscape.distributed.graph import DistributedGraph
from relscape.distributed.ranking import RankCounter
from relscape.distributed.relation import DistributedRelation
from relscape.distributed.rounds import Traffic
from relscape.distributed.writing import write_placed
from relscape.maps.stored import StoredMap

__all__ = [
    "DistributedFeatures",
    "DistributedGraph",
    "DistributedRelation",
    "RankCounter",
    "StoredMap",
    "Traffic",
    "connect",
    "write_placed",
]
