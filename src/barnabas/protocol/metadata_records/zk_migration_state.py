"""ZkMigrationStateRecord: how far the move of this cluster from ZooKeeper had come."""
# Written by tools/generate_messages.py from Kafka's schemas; change that, not this.

from __future__ import annotations

from barnabas.protocol.schema import Int8, Message


class ZkMigrationStateRecord(Message, key=21, versions=(0, 0), flexible_since=0):
    zk_migration_state: Int8
