"""The client of a2a-sdk 0.3.x: `client_v03.py URL JSONRPC|HTTP+JSON|GRPC`."""
import asyncio
import sys

import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, PushNotificationConfig, TaskIdParams, TaskPushNotificationConfig, TaskQueryParams

from credentials import headers, interceptors, open_channel
from driver import drive
from replies_v03 import message_of, reply


class Client:
    def __init__(self, streaming, unary):
        self.streaming, self.unary = streaming, unary

    async def send(self, say):
        last = None
        async for event in self.unary.send_message(message_of(say)):
            last = reply(event if isinstance(event, Message) else event[0])
        return last

    async def stream(self, say):
        async for event in self.streaming.send_message(message_of(say)):
            yield reply(event if isinstance(event, Message) else event[1] or event[0])

    async def get(self, task):
        return reply(await self.unary.get_task(TaskQueryParams(id=task)))

    async def cancel(self, task):
        return reply(await self.unary.cancel_task(TaskIdParams(id=task)))

    async def subscribe(self, task):
        async for event in self.streaming.resubscribe(TaskIdParams(id=task)):
            yield reply(event if isinstance(event, Message) else event[1] or event[0])

    async def push(self, task, url):
        config = PushNotificationConfig(id='peer', url=url)
        await self.unary.set_task_callback(TaskPushNotificationConfig(task_id=task, push_notification_config=config))


async def main(url, binding):
    async with httpx.AsyncClient(timeout=120, headers=headers() if binding == 'HTTP+JSON' else {}) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        make = lambda streaming: ClientFactory(
            ClientConfig(
                streaming=streaming,
                httpx_client=http,
                grpc_channel_factory=open_channel,
                supported_transports=[binding],
                use_client_preference=True,
            )
        ).create(card, interceptors=interceptors())
        await drive(Client(make(True), make(False)))


asyncio.run(main(*sys.argv[1:]))
