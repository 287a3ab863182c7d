"""Files of a log directory whose layout Kafka declares as a message."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.
