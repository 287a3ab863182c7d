"""The coordinator of groups: their members, their assignments and their offsets."""
