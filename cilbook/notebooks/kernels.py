"""The kernels of a build: this very interpreter, and warm.

PyTorch, its optimisers, scikit-learn and matplotlib take a new kernel longer to import than
many a chapter computes. So a build imports them once, in a server, and each chapter gets a
fork of it: a process of its own, in which nothing else has happened. Jupyter finds
`WarmProvisioner` by the name in the stage's kernel, an entry point of this package.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any

from jupyter_client.provisioning import LocalProvisioner

KERNELS = ".jupyter"  # in the stage; Jupyter looks in its `kernels` folder
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",  # as every kernel has it
    # Nothing to tell anyone: chapters that share a run wait for each other, and what a
    # kernel leaves behind when it is ended, multiprocessing clears away.
    "PYTHONWARNINGS": "ignore:waiting for another process that makes:UserWarning,"
    "ignore:resource_tracker:UserWarning",
}
KERNEL = "kernel of a chapter"
CAN_FORK = sys.platform == "linux"  # elsewhere loaded libraries may not survive it
IMPORTED = [  # nothing that looks at import where it is, as tqdm.auto and so cilbook do
    "ipykernel.kernelapp",
    "ipywidgets",
    "matplotlib.pyplot",
    "pandas.io.formats.style",
    "sklearn.datasets",
    "sklearn.model_selection",
    "torch._dynamo",  # the first optimiser would import it
]


def write_kernel(stage: Path, results: Path, warm: bool = CAN_FORK) -> None:
    """Describe a kernel that is this very interpreter, whatever else is installed."""
    kernel = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        "env": ENVIRONMENT | {"CILBOOK_RESULTS": str(results)},
    }
    if warm:
        kernel["metadata"] = {"kernel_provisioner": {"provisioner_name": "cilbook-warm"}}
    folder = stage / KERNELS / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(kernel))


@contextmanager
def kernels_of(stage: Path) -> Iterator[None]:
    """While this lasts Jupyter finds the stage's kernel, and the server is ready."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT, JUPYTER_PATH=str(stage / KERNELS))
    try:
        if CAN_FORK:
            first = _fork(int)  # returns once the server has imported all
            first.join()
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def end_kernels() -> None:
    """End the kernels that still run."""
    for process in active_children():
        if process.name == KERNEL:
            process.kill()


def _fork(target: Any, *args: Any) -> BaseProcess:
    """Start a process in a fork of the server, which the first call starts."""
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    process = context.Process(target=target, args=args, name=KERNEL, daemon=True)
    process.start()
    return process


class WarmProvisioner(LocalProvisioner):
    """Launches a kernel as a fork of the server, not as a new interpreter."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Mapping[str, Any]:
        """Run in a fork what `python -m ipykernel_launcher` would run."""
        self.process = _Kernel(_fork(_launch, cmd[3:], kwargs["env"], kwargs["cwd"]))
        self.pid = self.process.pid
        return self.connection_info


class _Kernel:
    """A process of multiprocessing with the face of a Popen."""

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess):
        self._process, self.pid = process, process.pid
        self.kill, self.terminate = process.kill, process.terminate

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def _launch(arguments: list[str], environment: Mapping[str, str], folder: str) -> None:
    from ipykernel.kernelapp import launch_new_instance

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, folder)
    Thread(target=_end_with_the_build, daemon=True).start()
    launch_new_instance(argv=[*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


def _end_with_the_build() -> None:
    parent_process().join()
    os._exit(1)
