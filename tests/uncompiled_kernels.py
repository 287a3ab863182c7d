"""The kernels as plain Python, whether or not they were compiled, to hold both variants against each other."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load_uncompiled(kernel: ModuleType) -> ModuleType:
    """A second copy of a kernel, made from its source."""
    assert kernel.__file__ is not None
    source = Path(kernel.__file__).with_name("kernel.py")
    spec = spec_from_file_location(f"uncompiled_{kernel.__name__}", source)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
