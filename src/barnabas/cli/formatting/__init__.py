"""What `kafka-storage format` does: it makes directories those of one node in one cluster."""
