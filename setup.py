"""The way in for pip and uv: stage what CMakeLists.txt installs, and pack that as the wheel."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Command, Distribution, setup
from setuptools.command.build import build

NAME = 'alpha_chaos'
ROOT = Path(__file__).resolve().parent
COPY = {'dirs_exist_ok': True, 'ignore': shutil.ignore_patterns('*.c')}  # its .so holds that
STAGE = Path('build/prefix')  # relative, because data files must be named relative to this file


class BuildRos(Command):
    """Build and stage everything; Python goes into the package, the rest becomes data files.

    A sub-command of `build`, because in editable mode setuptools swallows the errors of a changed
    `build_py`.
    """

    description = 'generate the ROS interfaces and stage the prefix'
    user_options = ()
    editable_mode = False

    def initialize_options(self):
        """Leave the target folder open, as setuptools wants it."""
        self.build_lib = None

    def finalize_options(self):
        """Take the target folder from `build`."""
        self.set_undefined_options('build', ('build_lib', 'build_lib'))

    def run(self):
        """Stage the prefix and hand its parts to setuptools."""
        stage = ROOT / STAGE
        shutil.rmtree(stage, ignore_errors=True)
        if self.editable_mode:  # again and again from one environment, so what was built is kept
            install_with_cmake(stage, ROOT / 'build' / f'cmake-{sys.implementation.cache_tag}')
        else:
            with tempfile.TemporaryDirectory() as work:
                install_with_cmake(stage, Path(work))
        (site,) = stage.glob('lib/python*/*-packages')
        if self.editable_mode:
            copy_generated(site / NAME, ROOT / NAME)
        else:
            shutil.copytree(site / NAME, Path(self.build_lib) / NAME, **COPY)
        shutil.rmtree(site.parent)
        folders = {}
        for path in sorted(stage.rglob('*')):
            if path.is_file():
                folder = str(path.parent.relative_to(stage))
                folders.setdefault(folder, []).append(str(path.relative_to(ROOT)))
        # In place, because install_data may hold the list already.
        self.distribution.data_files[:] = folders.items()

    def get_source_files(self):
        """Return nothing: MANIFEST.in lists the sources."""
        return []

    def get_outputs(self):
        """Return nothing: in editable mode the outputs are sources of the package."""
        return []

    def get_output_mapping(self):
        """Return nothing, for the same reason."""
        return {}


def install_with_cmake(prefix: Path, work: Path) -> None:
    """Configure, build and install CMakeLists.txt into `prefix`, with `work` as build folder."""
    import ament_package  # a build requirement, and it lies in the same prefix as all the others

    ros = Path(ament_package.__file__).resolve().parents[4]
    # `.venv/bin/python -m pip` does not put the environment's own cmake and ninja on PATH.
    path = os.pathsep.join([sysconfig.get_path('scripts'), os.environ.get('PATH', os.defpath)])
    env = {**os.environ, 'AMENT_PREFIX_PATH': str(ros), 'PATH': path}

    def cmake(*arguments):
        subprocess.run(['cmake', *arguments], env=env, check=True, stdout=sys.stderr)

    (work / 'CMakeCache.txt').unlink(missing_ok=True)  # it may be of another environment
    cmake(
        *['-S', ROOT, '-B', work, '-G', 'Ninja'],
        '-DBUILD_TESTING=OFF',
        '-DCMAKE_BUILD_TYPE=Release',
        '-DCXX_INTERFACES=OFF',  # there are no C++ programs to use them
        f'-DCMAKE_INSTALL_PREFIX={prefix}',
        f'-DCMAKE_PREFIX_PATH={ros}',
        f'-DPython3_EXECUTABLE={sys.executable}',
    )
    cmake('--build', work)
    cmake('--install', work)


def copy_generated(made: Path, package: Path) -> None:
    """Replace the generated part of the source package by what was just made."""
    for kind in ('msg', 'srv', 'action'):
        shutil.rmtree(package / kind, ignore_errors=True)
        shutil.copytree(made / kind, package / kind, **COPY)
    for library in made.glob('*.so'):
        # Removed first: written into, it would take along the nodes that have it mapped.
        (package / library.name).unlink(missing_ok=True)
        shutil.copy2(library, package)


class Build(build):
    """The usual build, then the ROS part."""

    sub_commands = (*build.sub_commands, ('build_ros', None))


class RosDistribution(Distribution):
    """A wheel for one platform, with data files."""

    def has_ext_modules(self):
        """Say yes: the generated interfaces are extension modules."""
        return True

    def has_data(self):
        """Say yes: setuptools asks this, not `has_data_files`, before an editable install."""
        return True


setup(
    cmdclass={'build': Build, 'build_ros': BuildRos},
    data_files=[('share/' + NAME, ['package.xml'])],  # filled by build_ros
    distclass=RosDistribution,
)
