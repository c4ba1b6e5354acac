"""The server of a2a-sdk 1.x: `server_v10.py PORT`. With PEER_BINDING=GRPC its card offers only gRPC. Prints `ready` when it accepts requests."""
import asyncio
import os
import sys

import grpc
import uvicorn
from starlette.applications import Starlette

from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc

from behaviour import behave
from gate import TOKEN, Gate, interceptors


class Out:
    def __init__(self, updater, message):
        self.updater, self.message = updater, message

    async def text(self, chunk, is_first):
        await self.updater.add_artifact([new_text_part(chunk)], artifact_id='answer', append=not is_first)

    async def ask(self, question):
        await self.updater.requires_input(self.updater.new_agent_message([new_text_part(question)]))

    async def sign_in(self, request):
        await self.updater.requires_auth(self.updater.new_agent_message([new_text_part(request)]))

    async def fail(self, reason):
        await self.updater.failed(self.updater.new_agent_message([new_text_part(reason)]))

    async def echo(self):
        await self.updater.add_artifact([part for part in self.message.parts if not part.HasField('text')], artifact_id='answer')

    async def complete(self):
        await self.updater.complete()


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        await behave(context.get_user_input(), context.context_id, context.task_id, Out(updater, context.message))

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(port):
    url = f'http://127.0.0.1:{port}'
    return pb.AgentCard(
        name='peer-test',
        description='The test agent of test/peers on the Python SDK.',
        version='1',
        capabilities=pb.AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[pb.AgentSkill(id='talk', name='talk', description='Talks.', tags=['test'])],
        supported_interfaces=[
            pb.AgentInterface(url=f'{url}/rpc', protocol_binding='JSONRPC', protocol_version='1.0'),
            pb.AgentInterface(url=url, protocol_binding='HTTP+JSON', protocol_version='1.0'),
        ],
    )


def demand_token(described):
    described.security_schemes['bearer'].http_auth_security_scheme.scheme = 'Bearer'
    described.security_requirements.add().schemes['bearer'].SetInParent()


async def main(port):
    described = card(port)
    if TOKEN is not None:
        demand_token(described)
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=described)
    if os.environ.get('PEER_BINDING') == 'GRPC':
        rpc = grpc.aio.server(interceptors=interceptors())
        a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), rpc)
        address = f"127.0.0.1:{rpc.add_insecure_port('127.0.0.1:0')}"
        del described.supported_interfaces[:]
        described.supported_interfaces.append(pb.AgentInterface(url=address, protocol_binding='GRPC', protocol_version='1.0'))
        await rpc.start()
    routes = [*create_agent_card_routes(described), *create_jsonrpc_routes(handler, '/rpc'), *create_rest_routes(handler)]
    server = uvicorn.Server(uvicorn.Config(Gate(Starlette(routes=routes)), host='127.0.0.1', port=int(port), log_level='warning'))
    asyncio.get_running_loop().call_later(0.5, lambda: print('ready', flush=True))
    await server.serve()


asyncio.run(main(sys.argv[1]))
