"""A client of a cluster: connections, the nodes it finds, and calls with time-outs and retries."""
