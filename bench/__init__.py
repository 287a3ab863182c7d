"""Side-by-side measurements: each row is a ratio of two things timed in turns in one run."""
