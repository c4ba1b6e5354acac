import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import {
  A2AService,
  SendMessageResponseSchema,
  StreamResponseSchema,
  TaskState,
} from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';

/** The baseline with Connect alone: it answers with the task of an echo agent, or streams `chunks=N` chunks, and stores nothing. */
const listener = connectNodeAdapter({
  routes: (router) =>
    router.service(A2AService, {
      sendMessage: ({ message }) =>
        create(SendMessageResponseSchema, {
          payload: {
            case: 'task',
            value: {
              id: crypto.randomUUID(),
              contextId: crypto.randomUUID(),
              status: { state: TaskState.COMPLETED, timestamp: timestampNow() },
              artifacts: [{ artifactId: crypto.randomUUID(), parts: message?.parts ?? [] }],
              history: message === undefined ? [] : [message],
            },
          },
        }),
      async *sendStreamingMessage({ message }) {
        const [first] = message?.parts ?? [];
        const chunks = Number(/chunks=(\d+)/.exec(first?.content.case === 'text' ? first.content.value : '')?.[1] ?? 1);
        for (let at = 0; at < chunks; at += 1) {
          const artifact = { artifactId: 'a', parts: [{ content: { case: 'text' as const, value: 'x'.repeat(32) } }] };
          yield create(StreamResponseSchema, {
            payload: { case: 'artifactUpdate', value: { taskId: 't', contextId: 'c', artifact, append: at > 0 } },
          });
        }
      },
    }),
});
const server = createServer(listener);
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
);
