"""Cluster metadata: the records of `__cluster_metadata`, the image that they replay into, and snapshots of it."""
