"""Control records: the ends of transactions, and what the quorum writes into its log about itself."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.
