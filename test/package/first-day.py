"""Calls an agent with Python's official SDK: `first-day.py URL TEXT`."""
import asyncio
import sys
import uuid

import httpx

from a2a.client import ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types import a2a_pb2 as pb


async def main(url, text):
    async with httpx.AsyncClient(timeout=120) as http:
        client = await ClientFactory(ClientConfig(streaming=False, httpx_client=http)).create_from_url(url)
        message = pb.Message(role=pb.Role.ROLE_USER, message_id=str(uuid.uuid4()), parts=[pb.Part(text=text)])
        async for event in client.send_message(pb.SendMessageRequest(message=message)):
            for artifact in event.task.artifacts:
                print(''.join(part.text for part in artifact.parts))


asyncio.run(main(*sys.argv[1:]))
