import { fromJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { A2AClient } from '#client';
import type { AgentCard, TaskEvent } from '#protocol';
import { A2AService, SendMessageRequestSchema } from '../../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';

/** What runs in the page: our client, with a card that names gRPC only. */
export async function callWithOurClient(card: AgentCard): Promise<object> {
  const client = await A2AClient.connect(card);
  const { task } = await client.send('chunks=2').result();
  const events: TaskEvent[] = [];
  for await (const event of client.stream('chunks=3 delay=10')) events.push(event);
  const unknown = await client.get('nope').then(
    () => 'found',
    (error: { kind: string }) => error.kind,
  );
  const left = new AbortController();
  let seen = 0;
  const reading = (async () => {
    for await (const _ of client.stream('chunks=400 delay=20', { signal: left.signal })) {
      seen += 1;
      if (seen === 3) left.abort();
    }
  })();
  const aborted = await reading.then(
    () => 'ended',
    (error: { kind: string }) => error.kind,
  );
  const { binding, dialect } = client.connection ?? {};
  return {
    ...{ binding, dialect, unknown, aborted, state: task?.status.state },
    text: events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts.map((part) => part.text ?? '') ?? []).join(''),
  };
}

/** Connect's own client. */
export async function callWithConnect(baseUrl: string): Promise<object> {
  const client = createClient(A2AService, createConnectTransport({ baseUrl }));
  const message = (text: string) =>
    fromJson(SendMessageRequestSchema, { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } });
  const { payload } = await client.sendMessage(message('chunks=1'));
  const kinds: (string | undefined)[] = [];
  for await (const event of client.sendStreamingMessage(message('chunks=2'))) kinds.push(event.payload.case);
  const error = await client.getTask({ id: 'nope' }).then(() => undefined, ConnectError.from);
  return { answer: payload.case, kinds, error: error === undefined ? '' : Code[error.code] };
}
