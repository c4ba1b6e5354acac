"""An agent of pydantic-ai with the fake model, served by fasta2a: `server.py PORT`."""
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from serve import MODEL, note, serve

port = sys.argv[1]
model = OpenAIChatModel('fake-model', provider=OpenAIProvider(base_url=f'{MODEL}/v1', api_key='fake'))
agent = Agent(model, name='peer-test', instructions='Follow the orders.', tools=[note])
serve(agent.to_a2a(name='peer-test', url=f'http://127.0.0.1:{port}', description='Follows orders.'), port)
