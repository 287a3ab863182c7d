"""Sends orders to a topic with a Kafka client, waits until the broker has them, and reads them back.

    python examples/orders.py 127.0.0.1:9092

The client is confluent-kafka; nothing here is peculiar to Barnabas, and any broker of Apache's will do as well.
"""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

TOPIC = "orders"
ORDERS = [("alice", "3 apples"), ("bob", "1 melon"), ("alice", "2 pears")]
TIMEOUT_S = 30


def send(servers: str) -> list[TopicPartition]:
    """Send the orders; where each of them is."""
    sent = []

    def on_delivery(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            sys.exit(f"not sent: {error}")
        sent.append(TopicPartition(TOPIC, message.partition() or 0, message.offset() or 0))

    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for who, what in ORDERS:
        producer.produce(TOPIC, key=who, value=what, on_delivery=on_delivery)
    if producer.flush(TIMEOUT_S):
        sys.exit(f"no answer from {servers} in {TIMEOUT_S} s")
    return sent


def read(servers: str, sent: list[TopicPartition]) -> list[Message]:
    """Read from the first order in each partition on."""
    firsts: dict[int, TopicPartition] = {}
    for place in sent:
        firsts.setdefault(place.partition, place)
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "orders", "enable.auto.commit": False})
    consumer.assign(list(firsts.values()))
    messages = consumer.consume(len(sent), TIMEOUT_S)
    consumer.close()
    return messages


def main(servers: str) -> None:
    sent = send(servers)
    for message in read(servers, sent):
        who, what = ((field or b"").decode() for field in (message.key(), message.value()))
        print(f"{TOPIC}-{message.partition()} offset {message.offset()}: {who} orders {what}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} HOST:PORT")
    main(sys.argv[1])
