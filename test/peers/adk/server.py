"""An agent of Google's ADK with the fake model, served by `to_a2a`: `server.py PORT`."""
import os
import sys

from serve import MODEL, note, serve

os.environ |= {'GOOGLE_API_KEY': 'fake', 'GOOGLE_GEMINI_BASE_URL': MODEL, 'GOOGLE_GENAI_USE_VERTEXAI': 'false'}

from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent

port = sys.argv[1]
agent = LlmAgent(name='peer_test', model='gemini-fake', description='Follows orders.', instruction='Follow the orders.', tools=[note])
serve(to_a2a(agent, host='127.0.0.1', port=int(port)), port)
