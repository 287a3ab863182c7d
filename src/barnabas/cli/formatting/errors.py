"""What keeps directories from being formatted."""

from __future__ import annotations


class FormatError(Exception):
    """Something that was asked for cannot be done; its text is for the person who asked."""
