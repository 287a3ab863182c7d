"""The log directories of a node and the partitions' logs in them.

A partition has one log, and while it moves a future one in another directory. A directory whose disk fails is offline
until the next start: its logs are let go and nothing there is touched again, while the others carry on.
"""

from __future__ import annotations

import errno
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from barnabas.log.background_checkpoint import BackgroundCheckpoint
from barnabas.log.checkpoint import (
    LOG_START_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_CHECKPOINT,
    TopicPartition,
    read_offsets,
    write_offsets,
)
from barnabas.log.clean_shutdown import take_clean_shutdown, write_clean_shutdown
from barnabas.log.cleaner.log_cleaner import LogCleaner
from barnabas.log.directory_opening import FoundLog, LogDirectoryError, find_logs, open_directory, require_one_each
from barnabas.log.log_config import LogConfig
from barnabas.log.log_directory import CHECKPOINTED, LogDirectory, NewLog, RunAll, one_by_one
from barnabas.log.names import (
    DELETE_DIRECTORY,
    FUTURE_DIRECTORY,
    STRAY_DIRECTORY,
    moved_directory,
    partition_directory,
)
from barnabas.log.partition_log import LogWatcher, PartitionLog
from barnabas.log.partition_metadata import write_topic_id
from barnabas.ports.disk import Disk
from barnabas.ports.rng import Rng
from barnabas.protocol.errors import InconsistentTopicId, KafkaStorageError
from barnabas.protocol.uuid import Uuid

_DAY_MS = 24 * 60 * 60 * 1000

ConfigOf = Callable[[str], LogConfig]
IsStray = Callable[[FoundLog], bool]


class LogDirectories:
    """Made and locked by the constructor; `load` opens the logs. `logs` is the table of all live partitions.

    Where there is a `cleaner` of these logs, it is told before one of them goes. Directories that are `cordoned` get no
    new partition while there are others, and a partition is made where it is `preferred` to be. `run_all` is how many
    logs are opened or made at once.
    """

    def __init__(self, disk: Disk, paths: Sequence[str], *, rng: Rng) -> None:
        if len(set(paths)) != len(paths):
            raise LogDirectoryError(f"a log directory is named twice in {', '.join(paths)}")
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.future_logs: dict[TopicPartition, PartitionLog] = {}
        self.topic_ids: dict[TopicPartition, Uuid] = {}
        self.failures: dict[str, OSError] = {}
        self.cleaner: LogCleaner | None = None
        self.cordoned: frozenset[str] = frozenset()
        self.preferred: dict[TopicPartition, str] = {}
        self._producer_id_expiration_ms = _DAY_MS
        self.run_all: RunAll = one_by_one
        self._disk = disk
        self._rng = rng
        self._online: dict[str, LogDirectory] = {}
        self._deletions: deque[tuple[int, str, PartitionLog | None]] = deque()
        self._watcher: LogWatcher | None = None
        try:
            for path in paths:
                try:
                    self._online[path] = open_directory(disk, path)
                except OSError as error:
                    self.failures[path] = error
        except LogDirectoryError:
            self.unlock()
            raise

    # What there is

    @property
    def online(self) -> list[LogDirectory]:
        return list(self._online.values())

    @property
    def directory_ids(self) -> dict[str, Uuid]:
        return {
            path: directory.meta.directory_id
            for path, directory in self._online.items()
            if directory.meta is not None and directory.meta.directory_id is not None
        }

    def directory_of(self, log: PartitionLog) -> LogDirectory:
        return self._online[_parent(log.directory)]

    # Loading

    def load(self, config_of: ConfigOf, *, now_ms: int, is_stray: IsStray = lambda _: False) -> None:
        """Open every log. What awaits deletion is scheduled again, strays are set aside and left alone.

        A directory is loaded as a whole or offline, also where its disk is full: a log that is there and was not opened
        must not be taken for a new one.
        """
        for directory in self.online:
            try:
                self._load_directory(directory, config_of, now_ms, is_stray)
            except OSError as error:
                self.take_offline(directory.path, error)

    def _load_directory(self, directory: LogDirectory, config_of: ConfigOf, now_ms: int, is_stray: IsStray) -> None:
        directory.previous_broker_epoch = take_clean_shutdown(self._disk, directory.path)
        found = self._find_logs(directory, config_of, now_ms, is_stray)
        recovery_points = read_offsets(self._disk, f"{directory.path}/{RECOVERY_POINT_CHECKPOINT}")
        log_starts = read_offsets(self._disk, f"{directory.path}/{LOG_START_CHECKPOINT}")
        failures: list[OSError] = []

        def open_log(each: FoundLog) -> PartitionLog | None:
            try:
                return PartitionLog(
                    self._disk,
                    each.path,
                    config_of(each.partition.topic),
                    rng=self._rng,
                    now_ms=now_ms,
                    log_start_offset=log_starts.get(each.partition, 0),
                    recovery_point=recovery_points.get(each.partition, 0),
                    had_clean_shutdown=directory.previous_broker_epoch is not None,
                    producer_id_expiration_ms=self._producer_id_expiration_ms,
                )
            except OSError as error:
                failures.append(error)
                return None

        for each, log in zip(found, self.run_all([partial(open_log, each) for each in found]), strict=True):
            if log is not None:
                self._add(directory, each.partition, log, is_future=each.is_future)
                if each.topic_id is not None:
                    self.topic_ids[each.partition] = each.topic_id
        if failures:
            raise failures[0]
        directory.is_loaded = True

    def _find_logs(
        self, directory: LogDirectory, config_of: ConfigOf, now_ms: int, is_stray: IsStray
    ) -> list[FoundLog]:
        """The logs to open, when what awaits deletion is scheduled and strays are set aside."""
        findings = find_logs(self._disk, directory.path)
        for partition, path in findings.deleted:
            self._deletions.append((now_ms + config_of(partition.topic).file_delete_delay_ms, path, None))
        found = []
        for each in findings.logs:
            if is_stray(each):
                self._rename(each.path, f"{directory.path}/{self._moved_name(each.partition, STRAY_DIRECTORY)}")
            else:
                found.append(each)
        opened = [
            FoundLog(partition, log.directory, None, is_future)
            for is_future, logs in ((False, self.logs), (True, self.future_logs))
            for partition, log in logs.items()
        ]
        require_one_each(found, opened)
        return found

    def watch(self, watcher: LogWatcher) -> None:
        """Let all logs, those that are to come too, tell this one what they leave to be done later."""
        self._watcher = watcher
        for log in (*self.logs.values(), *self.future_logs.values()):
            log.watcher = watcher

    def expire_producers_after(self, idle_ms: int) -> None:
        """Let all logs, those that are to come too, forget producers that were idle for so long."""
        self._producer_id_expiration_ms = idle_ms
        for log in (*self.logs.values(), *self.future_logs.values()):
            log.producer_state.producer_id_expiration_ms = idle_ms

    def _add(self, directory: LogDirectory, partition: TopicPartition, log: PartitionLog, *, is_future: bool) -> None:
        log.watcher = self._watcher
        if is_future:
            directory.future_logs[partition] = self.future_logs[partition] = log
        else:
            directory.logs[partition] = self.logs[partition] = log

    # Creating

    def create(
        self,
        partition: TopicPartition,
        config: LogConfig,
        *,
        now_ms: int,
        topic_id: Uuid | None = None,
        is_new: bool = True,
        path: str | None = None,
        is_future: bool = False,
    ) -> PartitionLog:
        """The partition's log, made where it is not there: in `path`, or where the fewest partitions are.

        A partition that is not new may lie in a directory that is offline, and is then not made a second time.
        """
        log = (self.future_logs if is_future else self.logs).get(partition)
        if log is None:
            if not is_new and self.failures:
                raise KafkaStorageError(
                    f"{partition} may be in a log directory that is offline: {_join(self.failures)}"
                )
            path = path if is_future else self.preferred.get(partition, path)
            log = self._create_in_first(self._candidates(path), partition, config, now_ms, topic_id, is_future)
            self.preferred.pop(partition, None)
        known = self.topic_ids.get(partition)
        if topic_id is not None and known is not None and known != topic_id:
            raise InconsistentTopicId(f"{partition} is of topic {known}, not of {topic_id}")
        return log

    def create_all(self, wanted: Iterable[NewLog], *, now_ms: int) -> None:
        """Make many logs, their writes to the disk side by side. What cannot be made so is left to `create`."""
        chosen: list[tuple[LogDirectory, NewLog]] = []
        coming = Counter[str]()
        for new in wanted:
            candidates = self._candidates(self.preferred.get(new.partition, new.path))
            if new.partition not in self.logs and candidates:
                directory = min(candidates, key=lambda each: each.partition_count + coming[each.path])
                coming[directory.path] += 1
                chosen.append((directory, new))

        def make(directory: LogDirectory, new: NewLog) -> PartitionLog | None:
            path = f"{directory.path}/{partition_directory(*new.partition)}"
            try:
                return self._make_log(path, new.config, now_ms, new.topic_id)
            except OSError:
                return None

        logs = self.run_all([partial(make, directory, new) for directory, new in chosen])
        for (directory, new), log in zip(chosen, logs, strict=True):
            if log is not None:
                self.topic_ids[new.partition] = new.topic_id
                self._add(directory, new.partition, log, is_future=False)
                self.preferred.pop(new.partition, None)

    def _candidates(self, path: str | None) -> list[LogDirectory]:
        if path is not None:
            return [directory for directory in self.online if directory.path == path]
        open_to_all = [directory for directory in self.online if directory.path not in self.cordoned]
        # What was assigned to this node just before its last directory was cordoned has to go somewhere.
        return sorted(open_to_all, key=lambda directory: directory.partition_count) or self.online[:1]

    def _create_in_first(
        self,
        candidates: list[LogDirectory],
        partition: TopicPartition,
        config: LogConfig,
        now_ms: int,
        topic_id: Uuid | None,
        is_future: bool,
    ) -> PartitionLog:
        name = self._moved_name(partition, FUTURE_DIRECTORY) if is_future else partition_directory(*partition)
        refusals = []
        for directory in candidates:
            try:
                with self.guard(directory.path):
                    log = self._make_log(f"{directory.path}/{name}", config, now_ms, topic_id)
            except KafkaStorageError as error:
                refusals.append(str(error))
                continue
            if topic_id is not None:
                self.topic_ids[partition] = topic_id
            self._add(directory, partition, log, is_future=is_future)
            return log
        reasons = "; ".join(refusals) or f"offline are {_join(self.failures) or 'none'}"
        raise KafkaStorageError(f"no log directory takes {partition}: {reasons}")

    def _make_log(self, path: str, config: LogConfig, now_ms: int, topic_id: Uuid | None) -> PartitionLog:
        """A new log, whole and durable. Of one that cannot be made nothing stays, as it is then made elsewhere."""
        assert not self._disk.exists(path), "a directory that is online has told of all its logs"
        log = None
        try:
            # A directory that the log finds there it need not flush: its name becomes durable with all else below.
            self._disk.make_directory(path)
            log = PartitionLog(
                self._disk,
                path,
                config,
                rng=self._rng,
                now_ms=now_ms,
                had_clean_shutdown=True,
                producer_id_expiration_ms=self._producer_id_expiration_ms,
            )
            if topic_id is not None:
                write_topic_id(self._disk, path, topic_id)
            self._disk.flush_directory(_parent(path))
        except OSError:
            if log is not None:
                log.release()
            with suppress(OSError):
                remove_tree(self._disk, path)
            raise
        return log

    # Failing

    @contextmanager
    def guard(self, path: str) -> Iterator[None]:
        """Turn an OSError in a log directory into KafkaStorageError, and take the directory offline for it.

        A full disk is no reason to: what is there can be read, and written to again when there is room.
        """
        try:
            yield
        except OSError as error:
            if error.errno != errno.ENOSPC:
                self.take_offline(path, error)
            raise KafkaStorageError(f"{path}: {error}") from error

    def take_offline(self, path: str, error: OSError) -> list[TopicPartition]:
        """Let a directory's logs go; the partitions that are no longer served."""
        directory = self._online.pop(path, None)
        if directory is None:
            return []
        self.failures[path] = error
        if self.cleaner is not None:
            self.cleaner.drop_directory(path)
        for _, log in directory.all_logs():
            with suppress(OSError):
                log.release()
        for partition in directory.logs:
            del self.logs[partition]
        for partition in directory.future_logs:
            del self.future_logs[partition]
        self._deletions = deque(waiting for waiting in self._deletions if _parent(waiting[1]) != path)
        with suppress(OSError):
            directory.lock.release()
        return list(directory.logs)

    # Checkpoints

    def checkpoint(self, *names: str) -> None:
        """Write these checkpoints of every directory, here and now."""
        for directory in self.online:
            for name in names:
                self._checkpoint(directory, name)

    def prepare_checkpoints(self, *names: str) -> list[BackgroundCheckpoint]:
        """These checkpoints of every directory as they are now, to be written elsewhere and put in place here."""
        return [
            BackgroundCheckpoint(
                self._disk, directory.path, name, CHECKPOINTED[name](directory), directory.checkpoint_writes
            )
            for directory in self.online
            for name in names
        ]

    def put_in_place(self, checkpoint: BackgroundCheckpoint) -> None:
        """Let a checkpoint that was written elsewhere take effect, unless another was written since."""
        directory = self._online.get(checkpoint.directory)
        if directory is not None:
            with suppress(KafkaStorageError), self.guard(directory.path):
                if directory.checkpoint_writes == checkpoint.writes_before:
                    checkpoint.put_in_place()
                else:
                    checkpoint.drop()

    def read_high_watermarks(self, directory: LogDirectory) -> dict[TopicPartition, int]:
        return read_offsets(self._disk, f"{directory.path}/{REPLICATION_CHECKPOINT}")

    def _checkpoint(self, directory: LogDirectory, name: str) -> None:
        directory.checkpoint_writes += 1
        with suppress(KafkaStorageError), self.guard(directory.path):
            write_offsets(self._disk, f"{directory.path}/{name}", CHECKPOINTED[name](directory))

    # Moving and deleting

    def delete(self, partition: TopicPartition, *, now_ms: int, is_future: bool = False) -> None:
        """Take a log out of service at once and remove its directory when file.delete.delay.ms is over."""
        log = self._take_out(partition, DELETE_DIRECTORY, is_future=is_future)
        self._deletions.append((now_ms + log.config.file_delete_delay_ms, log.directory, log))
        if self._watcher is not None:
            self._watcher.dropped_files(log)

    def set_aside(self, partition: TopicPartition) -> str:
        """Rename a log that should not be on this node, for a person to look at; its new path."""
        log = self._take_out(partition, STRAY_DIRECTORY, is_future=False)
        log.release()
        return log.directory

    def promote_future(self, partition: TopicPartition, *, now_ms: int) -> PartitionLog:
        """Let the future log take over from the current one, which is deleted."""
        future, current = self.future_logs.get(partition), self.logs.get(partition)
        if self.cleaner is not None and future is not None and current is not None:
            self.cleaner.move_checkpoint(partition, _parent(current.directory), _parent(future.directory))
        # Either directory may be found to have failed at any of this.
        future, current = self.future_logs.get(partition), self.logs.get(partition)
        if future is None:
            raise KafkaStorageError(f"{partition} has no future log in a directory that is online")
        directory = self.directory_of(future)
        topic_id = self.topic_ids.get(partition)
        # The future log is renamed first: with both in place a start fails and says so, with none data would be lost.
        self._move(future, partition_directory(*partition))
        del self.future_logs[partition], directory.future_logs[partition]
        if current is not None:
            future.update_high_watermark(current.high_watermark)
            # Whatever fails here, the future log serves from now on; a start that finds both names them.
            with suppress(KafkaStorageError):
                self.delete(partition, now_ms=now_ms)
        self._add(directory, partition, future, is_future=False)
        if topic_id is not None:
            self.topic_ids[partition] = topic_id
        # Or a crash in the next minute would have all of it recovered.
        self._checkpoint(directory, RECOVERY_POINT_CHECKPOINT)
        return future

    @property
    def deletion_due_ms(self) -> int | None:
        return min((due_ms for due_ms, _, _ in self._deletions), default=None)

    def take_due(self, now_ms: int) -> list[str]:
        """The directories whose delay is over, for whoever asks to remove with `remove_tree`, in any thread."""
        due = [waiting for waiting in self._deletions if waiting[0] <= now_ms]
        self._deletions = deque(waiting for waiting in self._deletions if waiting[0] > now_ms)
        for _, _, log in due:
            if log is not None:
                log.release()
        return [path for _, path, _ in due]

    def _take_out(self, partition: TopicPartition, suffix: str, *, is_future: bool) -> PartitionLog:
        """End the service of a log and rename its directory."""
        table = self.future_logs if is_future else self.logs
        if self.cleaner is not None and not is_future and partition in table:
            self.cleaner.forget(partition, _parent(table[partition].directory))
        log = table.get(partition)
        if log is None:
            raise KafkaStorageError(f"{partition} is not in a log directory that is online")
        directory = self.directory_of(log)
        self._move(log, self._moved_name(partition, suffix))
        del table[partition]
        del (directory.future_logs if is_future else directory.logs)[partition]
        if not is_future:
            self.topic_ids.pop(partition, None)
        # Another topic of this name must not be taken for recovered as far as this one was.
        self._checkpoint(directory, RECOVERY_POINT_CHECKPOINT)
        self._checkpoint(directory, LOG_START_CHECKPOINT)
        return log

    def _move(self, log: PartitionLog, name: str) -> None:
        parent = _parent(log.directory)
        with self.guard(parent):
            log.move_to(f"{parent}/{name}")
            self._disk.flush_directory(parent)

    def _rename(self, path: str, target: str) -> None:
        self._disk.rename(path, target)
        self._disk.flush_directory(_parent(path))

    def _moved_name(self, partition: TopicPartition, suffix: str) -> str:
        return moved_directory(*partition, f"{self._rng.randrange(1 << 128):032x}", suffix)

    # Stopping

    def close(self, *, broker_epoch: int, now_ms: int) -> None:
        """Flush and close every log and mark each directory that was loaded and closed without an error as clean."""
        closed = []
        for directory in self.online:
            with suppress(KafkaStorageError), self.guard(directory.path):
                self._close_all(directory, now_ms)
                closed.append(directory)
        self.checkpoint(*CHECKPOINTED)
        for directory in self.online:
            if directory.is_loaded and directory in closed:
                with suppress(KafkaStorageError), self.guard(directory.path):
                    write_clean_shutdown(self._disk, directory.path, broker_epoch)
        self.unlock()

    def _close_all(self, directory: LogDirectory, now_ms: int) -> None:
        failures: list[OSError] = []

        def close(log: PartitionLog) -> None:
            try:
                log.close(now_ms)
            except OSError as error:
                failures.append(error)

        self.run_all([partial(close, log) for _, log in directory.all_logs()])
        if failures:
            raise failures[0]

    def unlock(self) -> None:
        """Let go of the directories as they are, neither flushed nor marked."""
        for directory in self._online.values():
            directory.lock.release()
        self._online.clear()


def remove_tree(disk: Disk, path: str) -> None:
    """Remove a partition's directory and the files in it."""
    for name in disk.names(path):
        disk.remove(f"{path}/{name}")
    disk.remove_directory(path)


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _join(failures: dict[str, OSError]) -> str:
    return ", ".join(f"{path} ({error})" for path, error in failures.items())
