import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientOptions } from '#client';
import { A2AClient } from '#client';
import type { AgentCard, TaskEvent } from '#protocol';
import { chaosProxy } from '../support/chaos-proxy.ts';
import { eventually } from '../support/eventually.ts';
import type { GrpcJsServer } from '../support/grpc-js-server.ts';
import { grpcJsServer } from '../support/grpc-js-server.ts';
import { listen } from '../support/listen.ts';
import { builtIn, startServer } from '../support/server.ts';
import type { Talk } from '../support/talk.ts';
import { talkTo } from '../support/talk.ts';

let talk: Talk;
let server: GrpcJsServer;
let older: GrpcJsServer;
beforeAll(async () => {
  talk = await talkTo(builtIn('script'));
  server = await grpcJsServer(talk.service);
  older = await grpcJsServer(talk.service, { version: '0.3' });
});
afterAll(async () => {
  server.close();
  older.close();
  await talk.stop();
});

async function read(client: A2AClient, text: string): Promise<readonly TaskEvent[]> {
  const events: TaskEvent[] = [];
  for await (const event of client.stream(text)) events.push(event);
  return events;
}

function textOf(events: readonly TaskEvent[]): string {
  return events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts.map((part) => part.text ?? '') ?? []).join('');
}

function chunks(count: number): string {
  return Array.from({ length: count }, (_, at) => `chunk ${at + 1}`).join('');
}

describe('a client over gRPC', () => {
  it('uses the interface of the card, whose address is a host and a port', async () => {
    const client = await A2AClient.connect(server.card);
    const { task } = await client.send('hello').result();
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(client.connection).toMatchObject({ binding: 'GRPC', dialect: 'v10', url: `http://${server.address}` });
  });

  it('sends version, extensions, credentials, key, trace and a deadline', async () => {
    const client = await A2AClient.connect(server.card, { auth: { bearer: 'token-1' }, extensions: ['https://example.org/x'] });
    await client.send('hello').result();
    await read(client, 'hello');
    const [sent, streamed] = server.calls.slice(-2);
    expect(sent).toMatchObject({ method: 'SendMessage', deadline: true });
    expect(sent?.metadata).toMatchObject({
      'a2a-version': '1.0',
      authorization: 'Bearer token-1',
      'a2a-extensions': 'https://example.org/x',
    });
    expect(sent?.metadata['idempotency-key']).toBeTypeOf('string');
    expect(streamed).toMatchObject({ method: 'SendStreamingMessage', deadline: false });
    expect(streamed?.metadata['a2a-extensions']).toBe('https://example.org/x,urn:parley:a2a:seq:v1');
  });

  it('refuses an answer whose frames have flags that are reserved', async () => {
    const answer = async () => new Response(Uint8Array.of(0x04, 0, 0, 0, 0), { headers: { 'content-type': 'application/grpc-web+proto' } });
    const client = await A2AClient.connect(server.card, { fetch: answer });
    const error = { kind: 'garbage', message: expect.stringContaining('a frame with the flags 0x04') };
    await expect(client.get('any')).rejects.toMatchObject(error);
    await expect(read(client, 'hello')).rejects.toMatchObject(error);
  });

  it('streams, gets, lists, cancels, and raises the errors of A2A', async () => {
    const client = await A2AClient.connect(server.card);
    const events = await read(client, 'chunks=5');
    expect(textOf(events)).toBe(chunks(5));
    const id = events[0]?.task?.id ?? '';
    expect((await client.get(id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await client.list().page()).tasks.length).toBeGreaterThan(0);
    await expect(client.get('nobody')).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(client.cancel(id)).rejects.toMatchObject({ kind: 'TASK_NOT_CANCELABLE' });
  });

  it('calls an agent of 0.3', async () => {
    const client = await A2AClient.connect(older.card);
    const events = await read(client, 'chunks=3');
    expect(textOf(events)).toBe(chunks(3));
    expect(client.connection).toMatchObject({ binding: 'GRPC', dialect: 'v03.rest' });
    expect((await client.get(events[0]?.task?.id ?? '')).status.state).toBe('TASK_STATE_COMPLETED');
    await expect(client.list().page()).rejects.toThrow('a2a.v1.A2AService has no list');
  });

  it('aborts a call, and the task continues', async () => {
    const client = await A2AClient.connect(server.card);
    const left = new AbortController();
    let id = '';
    const reading = (async () => {
      for await (const event of client.stream('chunks=400 delay=5', { signal: left.signal })) {
        id = event.task?.id ?? id;
        if (event.artifactUpdate !== undefined) left.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ kind: 'aborted' });
    expect((await client.get(id)).status.state).toBe('TASK_STATE_WORKING');
    await client.cancel(id);
  });
});

describe('a client that has only fetch, as in a browser', () => {
  it('speaks gRPC-Web to a node: sends, streams, and raises the errors of A2A', async () => {
    const node = await startServer({ limits: { drainMsMax: 100 } });
    const types = new Set<string | null>();
    const ownFetch: ClientOptions['fetch'] = (request) => {
      types.add(request.headers.get('content-type'));
      return fetch(request);
    };
    const client = await A2AClient.connect(node.url, { fetch: ownFetch, binding: 'GRPC' });
    expect(client.connection).toMatchObject({ binding: 'GRPC', dialect: 'v10' });
    types.clear();
    const { task } = await client.send('hello').result();
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    const events = await read(client, 'chunks=5');
    expect(textOf(events)).toBe(chunks(5));
    await expect(client.get('nobody')).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    expect([...types]).toEqual(['application/grpc-web+proto']);
    await node.close();
  });
});

describe('a stream over gRPC, cut at any byte', () => {
  it('yields what an uninterrupted one does', async () => {
    const whole = textOf(await read(await A2AClient.connect(server.card), 'chunks=40 delay=1'));
    let resets = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6000 }), { minLength: 1, maxLength: 8 }), async (places) => {
        const left = [...places];
        const proxy = await chaosProxy(server.port, { resetAfterBytes: () => left.shift() ?? Number.POSITIVE_INFINITY, sliceBytes: 100 });
        const client = await through(proxy.url, { retry: { firstDelayMs: 1, maxDelayMs: 5, tries: 40, resend: 'lost' } });
        const events = await read(client, 'chunks=40 delay=1');
        resets += proxy.resets();
        proxy.close();
        expect(textOf(events)).toBe(whole);
      }),
      { numRuns: 8 },
    );
    expect(resets).toBeGreaterThan(5);
  });

  it('resumes after a time without data', async () => {
    const places = [900];
    const proxy = await chaosProxy(server.port, { silentAfterBytes: () => places.shift() ?? Number.POSITIVE_INFINITY, sliceBytes: 64 });
    const client = await through(proxy.url, { idleMs: 150, retry: { firstDelayMs: 1, maxDelayMs: 5 } });
    expect(textOf(await read(client, 'chunks=5 delay=1'))).toBe(chunks(5));
    proxy.close();
  });

  async function through(url: string, options: ClientOptions): Promise<A2AClient> {
    const moved = server.card.supportedInterfaces.map((face) => ({ ...face, url: new URL(url).host }));
    return await A2AClient.connect({ ...server.card, supportedInterfaces: moved } satisfies AgentCard, options);
  }
});

describe('a gRPC interface that does not work', () => {
  it('is left for the next one if no call can have arrived', async () => {
    const closed = await grpcJsServer(talk.service);
    closed.close();
    const http = await listen(async () => new Response('nothing here', { status: 404 }));
    for (const address of [closed.address, new URL(http.url).host]) {
      const faces = [{ url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' }, ...server.card.supportedInterfaces];
      const client = await A2AClient.connect({ ...server.card, supportedInterfaces: faces });
      expect((await client.send('hello').result()).task?.status.state, address).toBe('TASK_STATE_COMPLETED');
      expect(client.connection.url).toBe(`http://${server.address}`);
    }
    await http.close();
  });

  it('says why if there is no other', async () => {
    const http = await listen(async () => new Response('nothing here', { status: 404 }));
    const faces = [{ url: new URL(http.url).host, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
    const client = await A2AClient.connect({ ...server.card, supportedInterfaces: faces });
    await expect(client.send('hello').result()).rejects.toMatchObject({ kind: 'not-supported', why: expect.stringContaining('HTTP/2') });
    await http.close();
  });

  it('is used again after its server has restarted', async () => {
    let own = await grpcJsServer(talk.service);
    const client = await A2AClient.connect(own.card, { retry: { firstDelayMs: 1, maxDelayMs: 20, tries: 100, resend: 'lost' } });
    await client.send('hello').result();
    const { port } = own;
    own.close();
    await eventually(async () => {
      own = await grpcJsServer(talk.service, { port });
      return true;
    });
    expect((await client.send('hello').result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
    own.close();
  });
});
