"""crewAI's delegation to a remote agent: `client.py URL`. It streams, and returns the state and one text."""
import asyncio
import functools
import os
import sys
import uuid

# It prints boxes to standard output, which is ours.
results = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)
sys.stdout = sys.stderr

import driver
from crewai.a2a.utils.delegation import aexecute_a2a_delegation

driver.print = functools.partial(print, file=results)


class Client:
    def __init__(self, url):
        self.url = url

    async def send(self, say):
        context = say.get('contextId') or str(uuid.uuid4())
        found = await aexecute_a2a_delegation(
            endpoint=f'{self.url}/.well-known/agent-card.json',
            auth=None,
            timeout=120,
            task_description=say['text'],
            context_id=context,
            task_id=say.get('taskId'),
        )
        text = found.get('result') or found.get('error') or ''
        tasks = [message.task_id for message in found['history'] if message.task_id]
        return {'taskId': tasks[-1] if tasks else None, 'contextId': context, 'state': found['status'].value, 'texts': [text], 'files': [], 'data': [], 'note': text}


asyncio.run(driver.drive(Client(sys.argv[1])))
