"""Replicas of a partition: what its leader keeps of the others, and what a follower knows of its leader."""
