"""What `kafka-dump-log` prints of each kind of file, in the words of Apache Kafka's own tool."""
