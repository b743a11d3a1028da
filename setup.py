"""What pyproject.toml cannot say: one abi3 wheel, but for a free-threaded Python, which has no limited API."""

from sysconfig import get_config_var

from setuptools import setup
from setuptools.command.build_ext import build_ext


class WithoutLimitedAPI(build_ext):
    """Kernels for this version of Python alone."""

    def initialize_options(self):  # noqa: D102
        super().initialize_options()
        for kernel in self.distribution.ext_modules:
            kernel.py_limited_api, kernel.define_macros = False, []


if get_config_var("Py_GIL_DISABLED"):
    setup(cmdclass={"build_ext": WithoutLimitedAPI})
else:
    setup(options={"bdist_wheel": {"py_limited_api": "cp311"}})
