"""The compiled kernels: one abi3 build for all versions, but for a free-threaded Python, which has no limited API."""

import gzip
import os
import tarfile
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_config_var
from tempfile import TemporaryDirectory

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError, PlatformError

KERNELS = sorted(Path("sklearn_rank/_engine/kernels").glob("*.pyx"))
# GCC inlines functions until a file has grown by two fifths. The code that Cython adds uses that up, and then three
# kinds of sums take twice as long, so the limit is raised. clang has no such limit, and warns that it ignores this one.
# A compiler that fuses a product and a sum in one loop and not in another would give ways of computing the same number
# different last bits, so it must not fuse any. By default GCC fuses wherever it can, and clang from 14 on within an
# expression. Microsoft's compiler fuses none from Visual Studio 2022 on, because its default is /fp:precise.
# Where a loop begins would depend on the code before it, and its time, by 2 to 5 %, on where it begins.
FLAGS = "-O3 -g0 -ffp-contract=off -falign-functions=64 -falign-loops=32 --param=inline-unit-growth=100".split()
NEEDS = """{}

sklearn_rank is compiled here, as it is installed from its sources. That needs a C compiler and the headers of Python:
  Debian, Ubuntu   apt-get install gcc python3-dev
  Fedora, RHEL     dnf install gcc python3-devel
  Alpine           apk add gcc musl-dev python3-dev
  macOS            xcode-select --install
  Windows          the Build Tools for Visual Studio, with "Desktop development with C++"
  conda            conda install -c conda-forge c-compiler
"""

limited = not get_config_var("Py_GIL_DISABLED")
if not KERNELS:
    raise SystemExit(
        "setup.py must run in its own folder, with the sources of the kernels. It is better to run pip install ."
    )


class BuildKernels(build_ext):
    """Look for what is needed before any work, and use the optimization that Microsoft's compiler has by default."""

    def build_extensions(self):  # noqa: D102
        if find_spec("Cython") is None:
            raise PlatformError("Cython is not installed. sklearn_rank needs it where its build is not isolated.")
        self.look_for_a_compiler()
        for kernel in self.extensions:
            kernel.extra_compile_args = [] if self.compiler.compiler_type == "msvc" else FLAGS
        super().build_extensions()

    def look_for_a_compiler(self):
        """Compile what includes the headers of Python."""
        with TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text("#include <Python.h>\n")
            try:
                self.compiler.compile([str(source)], output_dir=folder)
            except (CompileError, PlatformError) as error:
                raise PlatformError(NEEDS.format(error)) from None


class ReproducibleSdist(sdist):
    """Write the same bytes for the same sources, with the time of SOURCE_DATE_EPOCH where it is set."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):  # noqa: D102
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch is None or format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)

        def entry(member):
            member.mtime, member.uid, member.gid, member.uname, member.gname = int(epoch), 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            return member

        name = f"{base_name}.tar.gz"
        self.mkpath(os.path.dirname(name))
        with open(name, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=int(epoch)) as packed:
            # tarfile adds the files of a folder in the order of their names.
            with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
                archive.add(base_dir, filter=entry)
        return name


setup(
    ext_modules=[
        Extension(
            f"sklearn_rank._engine.kernels.{path.stem}",
            [path.as_posix()],
            depends=[included.as_posix() for included in sorted(path.parent.glob("*.p[x][id]"))],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if limited else [],
            py_limited_api=limited,
        )
        for path in KERNELS
    ],
    cmdclass={"build_ext": BuildKernels, "sdist": ReproducibleSdist},
    options={"bdist_wheel": {"py_limited_api": "cp311" if limited else False}},
)
