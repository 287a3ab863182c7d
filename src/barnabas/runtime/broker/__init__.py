"""A broker's process: its life in the cluster, its way to the controller, and its part of a node."""
