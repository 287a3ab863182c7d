"""What a broker does for its logs while nobody asks: flushing, retention, compaction, checkpoints, removing files."""
