"""What `kafka-configs` does: entities and changes from its command line, descriptions and alterations."""
