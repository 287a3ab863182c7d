"""The active controller: decides what happens to the cluster's metadata, in records that are then replayed."""
