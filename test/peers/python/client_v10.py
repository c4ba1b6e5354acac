"""The client of a2a-sdk 1.x: `client_v10.py URL JSONRPC|HTTP+JSON|GRPC`."""
import asyncio
import base64
import sys
import uuid

import grpc
import httpx
from google.protobuf import json_format

from a2a.client import ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types import a2a_pb2 as pb

from credentials import interceptors
from driver import drive


def part_reply(parts):
    texts, files, data = [], [], []
    for part in parts:
        kind = part.WhichOneof('content')
        if kind == 'text':
            texts.append(part.text)
        elif kind == 'data':
            data.append(json_format.MessageToDict(part.data))
        elif kind == 'raw':
            files.append({'name': part.filename, 'mediaType': part.media_type, 'base64': base64.b64encode(part.raw).decode()})
    return {'texts': texts, 'files': files, 'data': data}


def state_of(status):
    return pb.TaskState.Name(status.state).removeprefix('TASK_STATE_').lower().replace('_', '-')


def task_reply(task):
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    note = ''.join(part.text for part in task.status.message.parts)
    return {'taskId': task.id, 'contextId': task.context_id, 'state': state_of(task.status), 'note': note, **part_reply(parts)}


def event_reply(event):
    kind = event.WhichOneof('payload')
    if kind == 'task':
        return task_reply(event.task)
    if kind == 'message':
        return {'contextId': event.message.context_id, 'state': 'completed', **part_reply(event.message.parts)}
    if kind == 'status_update':
        update = event.status_update
        note = ''.join(part.text for part in update.status.message.parts)
        return {'taskId': update.task_id, 'contextId': update.context_id, 'state': state_of(update.status), 'note': note, 'texts': [], 'files': [], 'data': []}
    update = event.artifact_update
    return {'taskId': update.task_id, 'contextId': update.context_id, **part_reply(update.artifact.parts)}


class Client:
    def __init__(self, streaming, unary):
        self.streaming, self.unary = streaming, unary

    def request(self, say):
        message = pb.Message(role=pb.Role.ROLE_USER, message_id=str(uuid.uuid4()), parts=[pb.Part(text=say['text'])])
        if say.get('contextId'):
            message.context_id = say['contextId']
        if say.get('taskId'):
            message.task_id = say['taskId']
        if say.get('file'):
            file = say['file']
            message.parts.append(pb.Part(raw=base64.b64decode(file['base64']), filename=file['name'], media_type=file['mediaType']))
        if say.get('data'):
            message.parts.append(json_format.ParseDict({'data': say['data']}, pb.Part()))
        return pb.SendMessageRequest(message=message)

    async def send(self, say):
        last = None
        async for event in self.unary.send_message(self.request(say)):
            last = event_reply(event)
        return last

    async def stream(self, say):
        async for event in self.streaming.send_message(self.request(say)):
            yield event_reply(event)

    async def get(self, task):
        return task_reply(await self.unary.get_task(pb.GetTaskRequest(id=task)))

    async def cancel(self, task):
        return task_reply(await self.unary.cancel_task(pb.CancelTaskRequest(id=task)))

    async def subscribe(self, task):
        async for event in self.streaming.subscribe(pb.SubscribeToTaskRequest(id=task)):
            yield event_reply(event)

    async def push(self, task, url):
        await self.unary.create_task_push_notification_config(pb.TaskPushNotificationConfig(task_id=task, url=url))

    async def list(self, context):
        page = await self.unary.list_tasks(pb.ListTasksRequest(context_id=context or ''))
        return [task.id for task in page.tasks]


async def main(url, binding):
    async with httpx.AsyncClient(timeout=120) as http:
        make = lambda streaming: ClientFactory(
            ClientConfig(
                streaming=streaming,
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[binding],
                use_client_preference=True,
            )
        ).create_from_url(url, interceptors())
        await drive(Client(await make(True), await make(False)))


asyncio.run(main(*sys.argv[1:]))
