"""fasta2a's A2AClient: `client.py URL`. It has send and get; it asks for a task until that is done."""
import asyncio
import sys
import uuid

import httpx
from fasta2a.client import A2AClient

from driver import drive

OPEN = ('submitted', 'working')


class PeerError(Exception):
    def __init__(self, error):
        super().__init__(error['message'])
        self.code = error['code']


def parts_reply(parts):
    files = [part['file'] for part in parts if part['kind'] == 'file']
    return {
        'texts': [part['text'] for part in parts if part['kind'] == 'text'],
        'files': [{'name': file.get('name'), 'mediaType': file.get('mime_type'), 'base64': file.get('bytes')} for file in files],
        'data': [part['data'] for part in parts if part['kind'] == 'data'],
    }


def reply(found):
    if found['kind'] == 'message':
        return {'contextId': found.get('context_id'), 'state': 'completed', **parts_reply(found['parts'])}
    status = found['status']
    said = parts_reply(status['message']['parts'])['texts'] if status.get('message') else []
    parts = [part for artifact in found.get('artifacts') or [] for part in artifact['parts']]
    return {'taskId': found['id'], 'contextId': found['context_id'], 'state': status['state'], 'note': ''.join(said), **parts_reply(parts)}


def result(response):
    if 'error' in response:
        raise PeerError(response['error'])
    return response['result']


class Client:
    def __init__(self, url):
        self.inner = A2AClient(http_client=httpx.AsyncClient(timeout=120), base_url=url)

    async def send(self, say):
        parts = [{'kind': 'text', 'text': say['text']}]
        if say.get('file'):
            file = say['file']
            parts.append({'kind': 'file', 'file': {'name': file['name'], 'mime_type': file['mediaType'], 'bytes': file['base64']}})
        if say.get('data'):
            parts.append({'kind': 'data', 'data': say['data']})
        message = {'role': 'user', 'parts': parts, 'kind': 'message', 'message_id': str(uuid.uuid4())}
        for name, key in (('contextId', 'context_id'), ('taskId', 'task_id')):
            if say.get(name):
                message[key] = say[name]
        found = result(await self.inner.send_message(message))
        while found['kind'] == 'task' and found['status']['state'] in OPEN:
            await asyncio.sleep(0.2)
            found = result(await self.inner.get_task(found['id']))
        return reply(found)

    async def get(self, task):
        return reply(result(await self.inner.get_task(task)))


asyncio.run(drive(Client(sys.argv[1])))
