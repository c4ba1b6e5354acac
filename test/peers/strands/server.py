"""An agent of Strands with the fake model, served by its A2AServer: `server.py PORT`. PEER_STREAMING=artifacts turns its compliant streaming on."""
import os
import sys

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.multiagent.a2a import A2AServer

from serve import MODEL, note, serve

port = sys.argv[1]


def agent_for(_context):
    model = OpenAIModel(client_args={'api_key': 'fake', 'base_url': f'{MODEL}/v1', 'max_retries': 0}, model_id='fake-model')
    return Agent(model=model, name='peer-test', description='Follows orders.', tools=[tool(note)], callback_handler=None)


compliant = os.environ.get('PEER_STREAMING') == 'artifacts'
server = A2AServer(agent_factory=agent_for, host='127.0.0.1', port=int(port), enable_a2a_compliant_streaming=compliant)
serve(server.to_starlette_app(), port)
