"""Serves an ASGI application of a framework and prints `ready` when it accepts requests."""
import asyncio
import os

import uvicorn

#: The address of the fake model: `/v1` for OpenAI's API, and Gemini's paths.
MODEL = os.environ.get('PEER_MODEL', '')


def note(text: str) -> str:
    """Keeps a note. The fake model follows orders only where an agent has a tool."""
    return f'noted {text}'


def serve(app, port):
    async def main():
        server = uvicorn.Server(uvicorn.Config(app, host='127.0.0.1', port=int(port), log_level='warning', loop='asyncio'))
        running = asyncio.create_task(server.serve())
        while not server.started and not running.done():
            await asyncio.sleep(0.05)
        print('ready', flush=True)
        await running

    asyncio.run(main())
