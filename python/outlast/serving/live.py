"""Updates of the live page, five times a second: one request to the server for all open pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.concurrency import run_in_threadpool

from outlast.serving.control import Server

PERIOD_S = 0.2
"""Interval between two requests to the server."""
MOST_LISTENERS = 32


class Feed:
    """Looks at the machine while anybody listens, and tells all who do."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._latest = ""
        self._listeners = 0
        self._closing = False
        self._news: asyncio.Condition | None = None

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """Looks for as long as the application lives."""
        self._news = asyncio.Condition()
        polling = asyncio.create_task(self._poll_server())
        try:
            yield
        finally:
            polling.cancel()

    async def _poll_server(self) -> None:
        assert self._news is not None
        while True:
            if self._listeners:
                text = await run_in_threadpool(self._snapshot)
                async with self._news:
                    self._latest = text
                    self._news.notify_all()
            await asyncio.sleep(PERIOD_S)

    def _snapshot(self) -> str:
        answers = [json.loads(self._server.request(f'{{"do":"{name}"}}')) for name in ("state", "metrics")]
        for answer in answers:
            if "error" in answer:
                return f"event: refused\ndata: {json.dumps(answer)}\n\n"
        state, figures = (answer["ok"] for answer in answers)
        return f"data: {json.dumps({'state': state, 'figures': figures}, separators=(',', ':'))}\n\n"

    def close(self) -> None:
        """Ends every stream at its next update."""
        self._closing = True

    async def listen(self) -> AsyncIterator[str]:
        """The stream of one listener, until it leaves or the server ends."""
        assert self._news is not None
        if self._listeners >= MOST_LISTENERS:
            yield f"event: refused\ndata: {json.dumps({'error': f'{MOST_LISTENERS} pages are open already'})}\n\n"
            return
        self._listeners += 1
        try:
            while not self._closing:
                async with self._news:
                    await self._news.wait()
                    text = self._latest
                yield text
        finally:
            self._listeners -= 1
