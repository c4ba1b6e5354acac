"""The A2AAgent of the Microsoft Agent Framework: `client.py URL`. Its session keeps the context, the task and the state of the task."""
import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver
from a2a.types import TaskState
from agent_framework.a2a import A2AAgent

from driver import drive


class Client:
    def __init__(self, agent):
        self.agent, self.sessions = agent, {}

    def session(self, say):
        return self.sessions.get(say.get('contextId')) or self.agent.create_session()

    def reply(self, session, text, files=()):
        kept = session.service_session_id or {}
        state = kept.get('task_state')
        context = kept.get('context_id')
        self.sessions[context] = session
        name = TaskState.Name(state).removeprefix('TASK_STATE_').lower().replace('_', '-') if state else 'completed'
        return {'taskId': kept.get('task_id'), 'contextId': context, 'state': name, 'texts': [text], 'files': list(files), 'data': [], 'note': text}

    async def send(self, say):
        session = self.session(say)
        response = await self.agent.run(say['text'], session=session)
        return self.reply(session, response.text)

    async def stream(self, say):
        session = self.session(say)
        async for update in self.agent.run(say['text'], stream=True, session=session):
            yield {'texts': [update.text] if update.text else [], 'files': [], 'data': []}
        yield {**self.reply(session, ''), 'texts': []}


async def main(url):
    async with httpx.AsyncClient(timeout=120) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        await drive(Client(A2AAgent(agent_card=card, timeout=120)))


asyncio.run(main(sys.argv[1]))
