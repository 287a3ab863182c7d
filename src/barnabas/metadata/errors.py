"""What can be wrong with metadata: a record that cannot be read or does not fit, and a state that cannot be written."""

from __future__ import annotations


class MetadataError(Exception):
    """Metadata that this node cannot go on with."""


class MetadataParseError(MetadataError):
    """Bytes that are no metadata record."""


class ReplayError(MetadataError):
    """A record that does not fit what was replayed before it."""


class UnwritableMetadataError(MetadataError):
    """Metadata that the records of a metadata.version have no place for."""
