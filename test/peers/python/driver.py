"""Reads one JSON command a line, calls the peer's own client with it, and writes one JSON result a line."""
import asyncio
import json
import sys


def code_of(error):
    """The number of an A2A or HTTP error, wherever this version of the SDK keeps it."""
    for found in (error, getattr(error, 'error', None), getattr(error, '__cause__', None)):
        for name in ('code', 'status_code', 'status'):
            value = getattr(found, name, None)
            if isinstance(value, int):
                return value
    named = {'TaskNotFoundError': -32001, 'TaskNotCancelableError': -32002}
    return named.get(type(error).__name__)


async def drive(client):
    """`client` has the coroutines send, get, list, cancel and push; stream and subscribe are async generators of replies."""
    loop = asyncio.get_running_loop()
    background = []

    async def first(events, fits):
        found = loop.create_future()

        async def read():
            try:
                async for reply in events:
                    if fits(reply) and not found.done():
                        found.set_result(reply)
            except Exception as error:  # the stream may end with the task
                if not found.done():
                    found.set_exception(error)

        background.append(asyncio.create_task(read()))
        return await found

    async def run(command):
        op = command['op']
        if op == 'stream':
            return [reply async for reply in client.stream(command)]
        if op == 'begin':
            return await first(client.stream(command), lambda reply: reply.get('taskId'))
        if op == 'subscribe':
            return await first(client.subscribe(command['taskId']), lambda reply: reply.get('texts'))
        if op == 'push':
            return await client.push(command['taskId'], command['url'])
        if op == 'list':
            return await client.list(command.get('contextId'))
        if op in ('get', 'cancel'):
            return await getattr(client, op)(command['taskId'])
        return await client.send(command)

    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if line == '':
            return
        try:
            answer = {'result': await run(json.loads(line))}
        except Exception as error:
            answer = {'error': {'message': f'{type(error).__name__}: {error}', 'code': code_of(error)}}
        print(json.dumps(answer), flush=True)
