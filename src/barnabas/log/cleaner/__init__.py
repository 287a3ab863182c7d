"""Compaction: keep the latest record of each key, as Kafka's log cleaner does."""
