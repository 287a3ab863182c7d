"""What `kafka-consumer-groups` does: listing, describing and deleting groups, and changing their offsets."""
