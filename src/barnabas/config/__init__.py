"""Every setting once: name, type, default, validator and doc."""
