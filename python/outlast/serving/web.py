"""A served machine over HTTP: the requests of the control socket, figures for Prometheus, events, and the live page.

For programs and browsers of this computer alone: it listens on the loopback interface, refuses requests that name
another host (so that no page elsewhere reaches it by a name that resolves to this computer), allows no page of another
origin to read anything, and changes something only for those who know the token.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.errors import ControlError
from outlast.serving import page
from outlast.serving.control import LONGEST_REQUEST, Server, answer_of, request_of
from outlast.serving.live import Feed
from outlast.serving.metrics import exposition
from outlast.serving.timed_protocol import TimedProtocol

GETS = {"state": "/v1/state", "metrics": "/v1/metrics"}
"""Requests that change nothing."""
POSTS = {"fault": "/v1/faults", "power": "/v1/power", "clock": "/v1/clock", "mark": "/v1/mark", "fork": "/v1/fork"}
"""Requests that change something; what comes with them is as on the control socket."""
POSTS |= {"repair": "/v1/repair", "replace": "/v1/replace", "stop": "/v1/stop"}

SMART_FORMATS = ("json", "smartctl", "raw", "ocp")
LONGEST_SHUTDOWN_S = 2
MOST_CONNECTIONS = 128


class Web:
    """Serves HTTP on 127.0.0.1 from a thread of its own; to be used in `with`."""

    def __init__(self, server: Server, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(16)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
            # From here on whoever connects waits for the thread and is not refused.
            self._socket.listen()
        except OSError as error:
            self._socket.close()
            raise ControlError(f"127.0.0.1:{port}: cannot listen there: {error.strerror}") from error
        self.port: int = self._socket.getsockname()[1]
        self._feed = Feed(server)
        config = uvicorn.Config(
            application(server, self._feed, self.port, self.token),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=LONGEST_SHUTDOWN_S,
            limit_concurrency=MOST_CONNECTIONS,
            http=TimedProtocol,
        )
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._uvicorn.run, args=([self._socket],), name="outlast-http", daemon=True
        )

    @property
    def address(self) -> str:
        """URL of the page."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The page, with the token where no server and no log sees it."""
        return f"{self.address}/#token={self.token}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._feed.close()
        self._uvicorn.should_exit = True
        self._thread.join()
        self._socket.close()


def application(server: Server, feed: Feed, port: int, token: str) -> ASGIApp:
    """The application behind `Web`."""
    ask = _asker(server)

    async def smart(request: Request) -> Response:
        shape, device = (request.query_params.get(name, usual) for name, usual in (("format", "json"), ("device", "0")))
        if not re.fullmatch("[0-9]{1,5}", device):
            return _refused(f'device "{device}": must be a number')
        if shape not in SMART_FORMATS:
            return _refused(f'format "{shape}": must be one of {", ".join(SMART_FORMATS)}')
        question = {"do": "smart", "format": shape, "device": int(device)}
        answer = json.loads(await run_in_threadpool(answer_of, server, question))
        if "error" in answer:
            return _refused(answer["error"], 404)
        if shape == "raw":
            return Response(bytes.fromhex(answer["ok"]), media_type="application/octet-stream")
        return JSONResponse(answer["ok"])

    async def metrics(_: Request) -> Response:
        answers = []
        for name in ("state", "metrics", "smart"):
            answer = json.loads(await run_in_threadpool(answer_of, server, {"do": name}))
            if "error" in answer:
                return _refused(answer["error"], 503)
            answers.append(answer["ok"])
        text, kind = exposition(*answers)
        return Response(text, headers={"content-type": kind})

    async def events(_: Request) -> Response:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(feed.listen(), media_type="text/event-stream", headers=headers)

    routes = [Route(path, _get(ask, name)) for name, path in GETS.items()]
    routes += [Route(path, _post(ask, name, token), methods=["POST"]) for name, path in POSTS.items()]
    routes += [Route("/v1/smart", smart), Route("/metrics", metrics), Route("/v1/events", events), *page.routes()]
    return _Guard(Starlette(routes=routes, lifespan=feed.lifespan), port)


Ask = Callable[[str, dict[str, Any]], Awaitable[Response]]


def _asker(server: Server) -> Ask:
    async def ask(name: str, more: dict[str, Any]) -> Response:
        answer = json.loads(await run_in_threadpool(answer_of, server, {**more, "do": name}))
        return _refused(answer["error"]) if "error" in answer else JSONResponse(answer["ok"])

    return ask


def _get(ask: Ask, name: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(_: Request) -> Response:
        return await ask(name, {})

    return endpoint


def _post(ask: Ask, name: str, token: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        # The name of the scheme is in any case (RFC 9110, 11.1).
        scheme, _, credential = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secrets.compare_digest(credential.strip().encode(), token.encode()):
            return _refused("the header Authorization must be `Bearer` and the token of the printed address", 401)
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > LONGEST_REQUEST:
                    return _refused(f"a request is at most {LONGEST_REQUEST} bytes long", 413)
        except ClientDisconnect:
            return _refused("the request ended before its announced length", 408)
        try:
            more = request_of(body or b"{}")
        except ValueError as error:
            return _refused(str(error))
        return await ask(name, {"fault": more} if name == "fault" else more)

    return endpoint


def _refused(message: str, status: int = 400) -> JSONResponse:
    return JSONResponse({"error": message}, status)


class _Guard:
    """Refuses what names another host or comes from elsewhere; puts the rules for browsers on every answer."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = scope["headers"]
        # Names of hosts are in any case.
        hosts = [value.lower() for name, value in headers if name == b"host"]
        origins = [value.lower() for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            await _refused("the Host header must name 127.0.0.1 or localhost, and the port", 421)(scope, receive, send)
            return
        if any(origin not in self._origins for origin in origins):
            await _refused("requests from pages of another origin are refused", 403)(scope, receive, send)
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *page.RULES]
            await send(message)

        await self._app(scope, receive, guarded)
