"""What an administrator asks of a cluster, one file for a family of calls."""
