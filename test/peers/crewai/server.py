"""An agent of crewAI with the fake model, served by its A2A functions and the Python SDK 0.3: `server.py PORT`."""
import sys

from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from crewai import LLM, Agent
from crewai.a2a.config import A2AServerConfig
from crewai.a2a.utils import task as a2a_task
from crewai.a2a.utils.agent_card import inject_a2a_server_methods
from crewai.tools import tool

from serve import MODEL, note, serve

port = sys.argv[1]
url = f'http://127.0.0.1:{port}'


def made():
    """An agent of crewAI runs one task at a time."""
    agent = Agent(
        role='peer-test',
        goal='Follow the orders.',
        backstory='Follows orders.',
        llm=LLM(model='openai/fake-model', base_url=f'{MODEL}/v1', api_key='fake'),
        tools=[tool(note)],
        a2a=A2AServerConfig(name='peer-test', description='Follows orders.', url=url),
    )
    inject_a2a_server_methods(agent)
    return agent


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        await a2a_task.execute(made(), context, event_queue)

    async def cancel(self, context, event_queue):
        await a2a_task.cancel(context, event_queue)


handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore())
serve(A2AStarletteApplication(agent_card=made().to_agent_card(url), http_handler=handler).build(), port)
