"""How notebooks run, without the reader's settings; ``python tests/support/notebook_runs.py`` renews their outputs."""

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
SECONDS = 120
"""How long one cell may take."""

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
"""What a saved notebook says of its kernel: nothing that differs from one machine to another."""


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def executed(path: Path) -> NotebookNode:
    with TemporaryDirectory() as folder:
        return asyncio.run(_executed(read(path), Path(folder)))


async def _executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # No folder of kernels: only then is "python3" this very interpreter, whatever is installed on the machine.
    place = {"transport": "ipc", "connection_file": str(folder / "kernel.json")}
    specs = KernelSpecManager(kernel_dirs=[])
    kernel = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs, **place)
    given = {"km": kernel, "timeout": SECONDS, "resources": {"metadata": {"path": str(folder)}}}
    client = NotebookClient(notebook, record_timing=False, coalesce_streams=True, **given)
    await client.async_execute(cleanup_kc=True, env=_environment(folder))
    notebook.metadata = nbformat.from_dict(METADATA)
    return notebook


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "IPYTHON"))}
    return {**kept, "LANGGRAPH_STRICT_MSGPACK": "true", "IPYTHONDIR": str(folder / "ipython")}


def main() -> None:
    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
