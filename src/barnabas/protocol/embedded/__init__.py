"""Messages that travel inside a bytes field of another."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.
