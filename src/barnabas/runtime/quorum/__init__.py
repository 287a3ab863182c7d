"""The quorum on this machine: raft's effects carried out on real files and connections."""
