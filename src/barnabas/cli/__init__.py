"""Kafka's command line tools, with Kafka's names, flags and text."""
