"""`.kafka_cleanshutdown` of a log directory: written last at a clean stop, gone before anything else at a start.

Where it is there, every log of the directory was flushed and closed. It also tells the broker's epoch, by which the
controller knows that nothing was lost (KIP-966).
"""

from __future__ import annotations

import json

from barnabas.log.checkpoint import read_whole, replace_file
from barnabas.ports.disk import Disk

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
VERSION = 0
UNKNOWN_BROKER_EPOCH = -1


def write_clean_shutdown(disk: Disk, log_directory: str, broker_epoch: int) -> None:
    content = json.dumps({"version": VERSION, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    replace_file(disk, f"{log_directory}/{CLEAN_SHUTDOWN}", content.encode())


def read_clean_shutdown(disk: Disk, log_directory: str) -> int | None:
    """The broker epoch of the last stop if it was clean, else None.

    An older broker's file says nothing of the epoch, and is answered with UNKNOWN_BROKER_EPOCH.
    """
    try:
        content = read_whole(disk, f"{log_directory}/{CLEAN_SHUTDOWN}")
    except FileNotFoundError:
        return None
    try:
        broker_epoch = json.loads(content)["brokerEpoch"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return UNKNOWN_BROKER_EPOCH
    return broker_epoch if type(broker_epoch) is int else UNKNOWN_BROKER_EPOCH


def take_clean_shutdown(disk: Disk, log_directory: str) -> int | None:
    """The same; the file is durably gone afterwards."""
    broker_epoch = read_clean_shutdown(disk, log_directory)
    if broker_epoch is not None:
        disk.remove(f"{log_directory}/{CLEAN_SHUTDOWN}")
        # If it came back after a power cut, logs that were not closed would be taken for sound.
        disk.flush_directory(log_directory)
    return broker_epoch
