"""Kafka's messages: the schema language, the codec compiler, the declarations, framing and error codes."""
