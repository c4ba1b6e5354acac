"""ADK's RemoteA2aAgent: `client.py URL`. A context is one of its sessions; it names tasks and contexts in the metadata of its events."""
import asyncio
import base64
import sys

from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

from driver import drive


def reply(event, sessions, session):
    about = event.custom_metadata or {}
    context = about.get('a2a:context_id')
    if context:
        sessions[context] = session
    parts = event.content.parts if event.content else []
    files = [
        {'name': part.inline_data.display_name, 'mediaType': part.inline_data.mime_type, 'base64': base64.b64encode(part.inline_data.data).decode()}
        for part in parts
        if part.inline_data
    ]
    texts = [part.text for part in parts if part.text and not part.thought]
    return {'taskId': about.get('a2a:task_id'), 'contextId': context, 'texts': texts, 'files': files, 'data': [], 'partial': event.partial, 'error': event.error_message}


class Client:
    def __init__(self, url):
        agent = RemoteA2aAgent(name='remote', agent_card=f'{url}/.well-known/agent-card.json', timeout=120)
        self.runner = InMemoryRunner(agent=agent, app_name='peer')
        self.sessions = {}

    async def events(self, say):
        session = self.sessions.get(say.get('contextId'))
        if session is None:
            session = (await self.runner.session_service.create_session(app_name='peer', user_id='ann')).id
        parts = [types.Part(text=say['text'])]
        if say.get('file'):
            file = say['file']
            blob = types.Blob(data=base64.b64decode(file['base64']), mime_type=file['mediaType'], display_name=file['name'])
            parts.append(types.Part(inline_data=blob))
        async for event in self.runner.run_async(user_id='ann', session_id=session, new_message=types.Content(role='user', parts=parts)):
            yield reply(event, self.sessions, session)

    async def stream(self, say):
        async for event in self.events(say):
            yield event

    async def send(self, say):
        seen = [event async for event in self.events(say)]
        # A chunk is whole only if it says that it is the last; other chunks are shown, and not kept in the session.
        whole = [event for event in seen if not event['partial'] and event['texts']] or seen
        failed = next((event['error'] for event in seen if event['error']), None)
        state = 'failed' if failed else 'completed'
        ids = {name: next((event[name] for event in seen if event[name]), None) for name in ('taskId', 'contextId')}
        join = lambda name: [item for event in whole for item in event[name]]
        return {**ids, 'state': state, 'note': failed, 'texts': join('texts'), 'files': join('files'), 'data': []}


asyncio.run(drive(Client(sys.argv[1])))
