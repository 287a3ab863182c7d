"""Builds the compiled kernels where a C compiler is found; without one the same files run as plain Python."""

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ["barnabas.records.kernel", "barnabas.log.cleaner.kernel"]

extensions = cythonize(
    [Extension(name, [f"src/{name.replace('.', '/')}.py"]) for name in KERNELS],
    language_level=3,
    build_dir="build/cython",
)
for extension in extensions:
    # Set after cythonize, which drops it: a failed build then leaves the plain module instead of an error.
    extension.optional = True

setup(ext_modules=extensions)
