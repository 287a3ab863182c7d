"""Coordinators: what groups and, in time, transactions decide, as machines without a clock or a disk of their own."""
