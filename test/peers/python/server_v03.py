"""The server of a2a-sdk 0.2 and 0.3: `server_v03.py PORT`. With PEER_BINDING=GRPC its card offers only gRPC. Prints `ready` when it accepts requests."""
import asyncio
import os
import sys

import uvicorn

from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, HTTPAuthSecurityScheme, Part, SecurityScheme, TaskState, TextPart
from a2a.utils import new_task

from behaviour import behave
from gate import TOKEN, Gate, interceptors


class Out:
    def __init__(self, updater, message):
        self.updater, self.message = updater, message

    def said(self, text):
        return self.updater.new_agent_message([Part(root=TextPart(text=text))])

    async def text(self, chunk, is_first):
        await self.updater.add_artifact([Part(root=TextPart(text=chunk))], artifact_id='answer', append=not is_first)

    async def ask(self, question):
        await self.updater.update_status(TaskState.input_required, message=self.said(question), final=True)

    async def sign_in(self, request):
        await self.updater.update_status(TaskState.auth_required, message=self.said(request), final=True)

    async def fail(self, reason):
        await self.updater.failed(self.said(reason))

    async def echo(self):
        await self.updater.add_artifact([part for part in self.message.parts if part.root.kind != 'text'], artifact_id='answer')

    async def complete(self):
        await self.updater.complete()


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        task = context.current_task
        if task is None:
            task = new_task(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await behave(context.get_user_input(), task.context_id, task.id, Out(updater, context.message))

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).update_status(TaskState.canceled, final=True)


def card(port):
    return AgentCard(
        name='peer-test',
        description='The test agent of test/peers on the Python SDK.',
        url=f'http://127.0.0.1:{port}/',
        version='1',
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='talk', name='talk', description='Talks.', tags=['test'])],
    )


async def serve_grpc(handler, described):
    import grpc  # only where the package for gRPC is installed
    from a2a.grpc import a2a_pb2_grpc
    from a2a.server.request_handlers import GrpcHandler

    rpc = grpc.aio.server(interceptors=interceptors())
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(described, handler), rpc)
    described.url = f"127.0.0.1:{rpc.add_insecure_port('127.0.0.1:0')}"
    described.preferred_transport = 'GRPC'
    await rpc.start()
    return rpc  # it stops when nobody holds it


async def main(port):
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore())
    described = card(port)
    if TOKEN is not None:
        described.security_schemes = {'bearer': SecurityScheme(root=HTTPAuthSecurityScheme(scheme='bearer'))}
        described.security = [{'bearer': []}]
    if os.environ.get('PEER_BINDING') == 'GRPC':
        rpc = await serve_grpc(handler, described)  # noqa: F841
    app = A2AStarletteApplication(agent_card=described, http_handler=handler).build()
    server = uvicorn.Server(uvicorn.Config(Gate(app), host='127.0.0.1', port=int(port), log_level='warning'))
    asyncio.get_running_loop().call_later(0.5, lambda: print('ready', flush=True))
    await server.serve()


asyncio.run(main(sys.argv[1]))
