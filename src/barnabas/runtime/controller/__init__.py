"""A controller's process: what stands between its decisions, the quorum and those who ask."""
