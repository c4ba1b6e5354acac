"""An agent of the Microsoft Agent Framework with the fake model, served by its A2AExecutor: `server.py PORT`."""
import sys

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agent_framework.a2a import A2AExecutor
from agent_framework.openai import OpenAIChatCompletionClient
from starlette.applications import Starlette

from serve import MODEL, note, serve

port = sys.argv[1]
client = OpenAIChatCompletionClient(model='fake-model', api_key='fake', base_url=f'{MODEL}/v1')
agent = client.as_agent(name='peer-test', instructions='Follow the orders.', tools=[note])
card = AgentCard(
    name='peer-test',
    description='Follows orders.',
    version='1',
    default_input_modes=['text/plain'],
    default_output_modes=['text/plain'],
    capabilities=AgentCapabilities(streaming=True),
    supported_interfaces=[AgentInterface(url=f'http://127.0.0.1:{port}/', protocol_binding='JSONRPC', protocol_version='1.0')],
)
handler = DefaultRequestHandler(agent_executor=A2AExecutor(agent, stream=True), task_store=InMemoryTaskStore(), agent_card=card)
serve(Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')]), port)
