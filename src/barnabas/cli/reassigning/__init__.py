"""What `kafka-reassign-partitions` does: plans from its files, throttles, moves of partitions and of replicas."""
