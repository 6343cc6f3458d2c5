"""The live page: one HTML file and one ES module, which load nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def _asset(name: str) -> str:
    return files("outlast.serving").joinpath("assets", name).read_text(encoding="utf-8")


def _style_hash(html: str) -> str:
    style = re.search(r"<style>(.*?)</style>", html, re.S)
    assert style is not None, "the page has its style within"
    return base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()


_HTML, _SCRIPT = _asset("live.html"), _asset("live.js")

POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'sha256-{_style_hash(_HTML)}'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

RULES = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
"""Headers of every response."""


def routes() -> list[Route]:
    """The page and its module."""

    async def html(_: Request) -> Response:
        return Response(_HTML, media_type="text/html", headers={"cache-control": "no-store"})

    async def script(_: Request) -> Response:
        return Response(_SCRIPT, media_type="text/javascript", headers={"cache-control": "no-store"})

    return [Route("/", html), Route("/live.js", script)]
