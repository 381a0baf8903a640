"""From the stage to pages: Jupyter Book renders, a small server shows."""

import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cilbook.errors import RunFailed


def render(root: Path, strict: bool = True) -> Path:
    """Turn the stage into HTML; if strict, a warning is an error."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    command += ["build", str(root / "_build" / "stage"), "--path-output", str(root)]
    command += ["-W", "--keep-going"] if strict else []
    status = subprocess.run([*command, "--quiet"], stdout=sys.stderr.fileno())
    if status.returncode:
        raise RunFailed("Jupyter Book could not render the book; it says why above")
    return root / "_build" / "html" / "index.html"


def serve(html: Path, port: int = 8000) -> None:
    """Serve the built pages to this machine only, until interrupted."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(html))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/", file=sys.stderr)
        server.serve_forever()
