import fc from 'fast-check';
import { A2AClient } from '#client';
import { listenRaw } from '../../support/listen.ts';
import { BYTES, cut, mutated } from './cases.ts';
import type { FuzzCase, FuzzSurface } from './surface.ts';
import { within } from './surface.ts';

const ID = { taskId: 't', contextId: 'c' };
const EVENTS = [
  { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } },
  {
    statusUpdate: {
      ...ID,
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'q', role: 'ROLE_AGENT', parts: [{ text: '?' }] } },
    },
  },
  { artifactUpdate: { ...ID, artifact: { artifactId: 'a', parts: [{ text: 'x' }] }, append: true, lastChunk: false } },
  { statusUpdate: { ...ID, status: { state: 'TASK_STATE_COMPLETED' } } },
  {
    message: {
      messageId: 'm',
      role: 'ROLE_AGENT',
      parts: [{ text: 'hi' }, { raw: 'eA==' }, { url: 'https://x.example/' }, { data: { a: 1 } }],
    },
  },
  { error: { code: 500, message: 'x', status: 'INTERNAL', details: [] } },
];

/** Our client reads streams of a hostile server. */
export async function sseSurface(): Promise<FuzzSurface> {
  let stream: FuzzCase = [];
  let requests = 0;
  const server = await listenRaw(async (incoming, outgoing) => {
    incoming.resume();
    requests += 1;
    // Only the first request of a try gets the stream: a client that resumes must come to an end too.
    if (requests > 1) {
      outgoing.writeHead(404, { 'Content-Type': 'application/json' }).end('{}');
      return;
    }
    outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const piece of stream) {
      if (!outgoing.write(Buffer.from(piece, 'latin1')))
        await new Promise((resolve) => outgoing.once('drain', resolve).once('close', resolve));
    }
    outgoing.end();
  });
  const read = async (input: FuzzCase): Promise<string> => {
    [stream, requests] = [input, 0];
    const client = await A2AClient.connect(cardOf(server.url), { retry: { tries: 1 }, idleMs: 20_000 });
    let text = '';
    for await (const { artifactUpdate } of client.send('hello'))
      text += (artifactUpdate?.artifact.parts ?? []).map((part) => part.text ?? '').join('');
    return text;
  };
  return {
    name: 'sse',
    cases: hostileStreams(),
    send: async (input) => {
      // Any error is allowed. Not to end is not.
      await within(
        'reading the stream',
        read(input).catch(() => ''),
      );
    },
    check: async () => {
      const good = [EVENTS[0], EVENTS[2], EVENTS[3]].map((event) => `data: ${JSON.stringify(event)}\n\n`);
      const text = await within('reading a good stream', read(good));
      if (text !== 'x') throw new Error(`a good stream was read as ${JSON.stringify(text)}`);
    },
    rssMib: () => process.memoryUsage.rss() / 1_048_576,
    close: () => server.close(),
  };
}

function cardOf(url: string) {
  return {
    ...{ name: 'hostile', description: 'x', version: '1', capabilities: { streaming: true }, skills: [] },
    ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
    supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
  };
}

function hostileStreams(): fc.Arbitrary<FuzzCase> {
  const end = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\n\r\n', '');
  const field = fc.constantFrom(
    'data:',
    'data: ',
    'data',
    'id:',
    'id: \0',
    'event:',
    'retry:',
    'retry: 99999999999',
    ':',
    '\xef\xbb\xbfdata:',
    'x',
  );
  const event = mutated(EVENTS.map((each) => JSON.stringify(each)));
  const good = fc.constantFrom(...EVENTS.map((each) => JSON.stringify(each)));
  const long = fc.constantFrom('x'.repeat(100_000), '\xff'.repeat(70_000), '\xf0\x9f'.repeat(1000));
  const frame = fc.oneof(
    { weight: 5, arbitrary: event.map((text) => `data: ${text}\n\n`) },
    { weight: 4, arbitrary: good.map((text) => `id: 1\ndata: ${text}\n\n`) },
    { weight: 3, arbitrary: fc.tuple(field, fc.oneof(BYTES, good, long), end).map((parts) => parts.join('')) },
    BYTES,
  );
  return cut(fc.array(frame, { maxLength: 12 }));
}
