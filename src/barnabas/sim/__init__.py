"""The simulated world behind the ports: a disk that tears writes, time that is given."""
