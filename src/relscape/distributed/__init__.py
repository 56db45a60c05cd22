"""The same models on Dask: relations that outgrow one machine, in blocks on the workers of a cluster."""

from relscape.distributed.cluster import connect
from relscape.distributed.relation import DistributedRelation
from relscape.distributed.rounds import Traffic
from relscape.maps.stored import StoredMap

__all__ = ["DistributedRelation", "StoredMap", "Traffic", "connect"]
