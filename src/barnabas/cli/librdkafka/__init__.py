"""librdkafka as the producer and the consumer of Kafka's tools, told what to do in the words of Java's clients."""
