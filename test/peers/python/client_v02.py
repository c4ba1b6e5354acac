"""The client of a2a-sdk 0.2.x: `client_v02.py URL`."""
import asyncio
import sys
import uuid

import httpx

from a2a.client import A2ACardResolver, A2AClient
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    MessageSendParams,
    PushNotificationConfig,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
)

from credentials import interceptors
from driver import drive
from replies_v03 import message_of, reply


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(error.message)
        self.code = error.code


def result_of(response):
    error = getattr(response.root, 'error', None)
    if error is not None:
        raise RpcError(getattr(error, 'root', error))
    return response.root.result


class Client:
    def __init__(self, client):
        self.client = client

    async def send(self, say):
        request = SendMessageRequest(id=str(uuid.uuid4()), params=MessageSendParams(message=message_of(say)))
        return reply(result_of(await self.client.send_message(request)))

    async def stream(self, say):
        request = SendStreamingMessageRequest(id=str(uuid.uuid4()), params=MessageSendParams(message=message_of(say)))
        async for event in self.client.send_message_streaming(request):
            yield reply(result_of(event))

    async def get(self, task):
        return reply(result_of(await self.client.get_task(GetTaskRequest(id=str(uuid.uuid4()), params=TaskQueryParams(id=task)))))

    async def cancel(self, task):
        return reply(result_of(await self.client.cancel_task(CancelTaskRequest(id=str(uuid.uuid4()), params=TaskIdParams(id=task)))))

    async def push(self, task, url):
        config = TaskPushNotificationConfig(taskId=task, pushNotificationConfig=PushNotificationConfig(url=url))
        result_of(await self.client.set_task_callback(SetTaskPushNotificationConfigRequest(id=str(uuid.uuid4()), params=config)))


async def main(url):
    async with httpx.AsyncClient(timeout=120) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        await drive(Client(A2AClient(http, agent_card=card, interceptors=interceptors())))


asyncio.run(main(*sys.argv[1:]))
