"""Builds the records kernel."""
