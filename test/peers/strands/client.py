"""Strands' A2AAgent: `client.py URL`. It yields the events of the Python SDK 0.3, and sends neither tasks nor contexts."""
import asyncio
import sys

from a2a.types import Message
from strands.agent.a2a_agent import A2AAgent

from driver import drive
from replies_v03 import reply


class Client:
    def __init__(self, url):
        self.agent = A2AAgent(endpoint=url, timeout=120)

    def content(self, say):
        return say['text']

    async def stream(self, say):
        async for event in self.agent.stream_async(self.content(say)):
            if event.get('type') == 'a2a_stream':
                found = event['event']
                yield reply(found if isinstance(found, Message) else found[1] or found[0])

    async def send(self, say):
        last = None
        async for event in self.agent.stream_async(self.content(say)):
            if event.get('type') == 'a2a_stream':
                found = event['event']
                last = reply(found if isinstance(found, Message) else found[0])
            elif 'result' in event and last is not None:
                last['texts'] = [block['text'] for block in event['result'].message['content'] if 'text' in block]
        return last


asyncio.run(drive(Client(sys.argv[1])))
