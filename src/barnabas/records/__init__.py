"""Record batches: header, build, validate, iterate, compress."""
