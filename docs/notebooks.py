"""Makes pages of the notebooks in examples/notebooks: executes each, and puts what its cells give below them.

A hook of mkdocs, which calls `on_files`. Notebooks are kept without output, so that no page shows what they gave once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import nbformat
import plotly.io as pio
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient
from plotly.offline import get_plotlyjs
from traitlets.config import Config

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "notebooks"
CHART = "application/vnd.plotly.v1+json"
BARE = {"displayModeBar": False}
"""Buttons would lie on the titles."""
SECONDS = 120
"""How long a cell may take on a machine that does much else."""


def notebooks() -> list[Path]:
    """All notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook with the output of its cells; raises where one of them does. Writes nothing beside it."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with TemporaryDirectory() as folder:
        # Charts as data, to be drawn by the page's own plotly.js; nothing of Jupyter's in the home folder.
        own = {"PLOTLY_RENDERER": "plotly_mimetype", "IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}
        with patch.dict(os.environ, own):
            # Sockets of files, since those of the network can be listened to.
            sockets = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})
            work = {"metadata": {"path": folder}}
            # What a cell prints comes in pieces, more or fewer of them from time to time.
            runner = NotebookClient(notebook, kernel_name="python3", config=sockets, timeout=SECONDS, resources=work)
            runner.coalesce_streams = True
            runner.execute()
    return notebook


def page(notebook: Any, name: str) -> str:
    """The Markdown of an executed notebook. Charts are drawn by plotly.min.js, which is beside the page."""
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts += [_fenced("python", cell.source), *(_shown(output) for output in cell.outputs)]
    about = f"This page is [a notebook]({name}.ipynb) with its output: it was run when this page was made.\n"
    parts.insert(1, f'{about}\n<script src="plotly.min.js"></script>')
    return "\n\n".join(parts) + "\n"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _shown(output: Any) -> str:
    if output.output_type == "stream":
        return _fenced("text", output.text)
    data = output.data
    if CHART in data:
        # As JSON, since figures read from it are as those that were shown.
        figure = pio.from_json(json.dumps(data[CHART]), skip_invalid=True)
        return str(pio.to_html(figure, full_html=False, include_plotlyjs=False, default_height="420px", config=BARE))
    return str(data["text/html"]) if "text/html" in data else _fenced("text", data["text/plain"])


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds to the site a page for each notebook, the notebook itself, and one plotly.js for all."""
    for path in notebooks():
        place = f"notebooks/{path.stem}"
        files.append(File.generated(config, f"{place}.md", content=page(executed(path), path.stem)))
        files.append(File.generated(config, f"{place}.ipynb", abs_src_path=str(path)))
    files.append(File.generated(config, "notebooks/plotly.min.js", content=get_plotlyjs()))
    return files
