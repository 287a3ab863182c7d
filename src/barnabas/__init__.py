"""Barnabas: Apache Kafka's replicated commit log, in Python."""

__version__ = "0.1.0.dev0"
