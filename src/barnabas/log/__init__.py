"""A partition's log on a Disk: segments, indexes, producer state, epochs, recovery, cleaning."""
