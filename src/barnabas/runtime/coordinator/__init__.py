"""Carries coordinators out on the event loop: appends, waits for replicas, timers, loading."""
