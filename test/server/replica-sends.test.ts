import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ElsewhereError } from '#engine';
import type { A2AService, CallContext, SendRequest, SendResult } from '#protocol';
import { A2AError, taskId } from '#protocol';
import { DEFAULT_SERVER_LIMITS } from '#server';
import type { ReplicaRow } from '../../src/engine/adapters/postgres.ts';
import { createDeliveryReports } from '../../src/server/adapters/replicas/delivery-reports.ts';
import type { LinkCall } from '../../src/server/adapters/replicas/link-call.ts';
import type { Links } from '../../src/server/adapters/replicas/link-client.ts';
import { createLinks } from '../../src/server/adapters/replicas/link-client.ts';
import type { LinkHost } from '../../src/server/adapters/replicas/link-host.ts';
import { openLinkHost } from '../../src/server/adapters/replicas/link-host.ts';
import { makeLinkKeys } from '../../src/server/adapters/replicas/link-keys.ts';
import { SENDS } from '../../src/server/adapters/replicas/link-wire.ts';
import { routeCalls } from '../../src/server/adapters/replicas/routed.ts';
import type { SendChannels, SentCall } from '../../src/server/adapters/replicas/send-channel.ts';
import { createSendChannels } from '../../src/server/adapters/replicas/send-channel.ts';
import { SILENT } from '../../src/server/observability/log.ts';
import { eventually } from '../support/eventually.ts';

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

type Sending = (text: string, ctx: CallContext) => Promise<SendResult>;

interface Pair {
  readonly host: LinkHost;
  /** Sends a text from the other replica. */
  send(text: string, onAdmitted?: (task: string) => void): Promise<SentCall>;
  /** How many streams of HTTP/2 it has opened. */
  readonly streams: () => number;
  readonly report: (key: string) => void;
  /** Opens another stream for sends, to write anything to it. */
  readonly raw: () => Promise<ClientHttp2Stream>;
}

const message = (text: string): SendResult => ({ messageId: text, role: 'ROLE_AGENT', parts: [{ text }] }) as unknown as SendResult;

/** A replica that answers sends as given, and another one with a link to it. */
async function pair(answer: Sending, { isAlive = (): boolean => true, agent = 'echo' } = {}): Promise<Pair> {
  const [secret, sender, receiver] = [randomBytes(32), makeLinkKeys(), makeLinkKeys()];
  const textOf = ({ message: { parts } }: SendRequest): string => (parts[0] as { readonly text: string }).text;
  const service = { send: (request: SendRequest, ctx: CallContext) => answer(textOf(request), ctx) } as unknown as A2AService;
  const host = await openLinkHost({
    ...{ host: '127.0.0.1', port: 0, secret, publicKey: receiver.publicKey, log: SILENT, limits: DEFAULT_SERVER_LIMITS },
    ...{ figures: () => '{}', give: async () => false, erase: async () => {}, serviceOf: (name) => (name === agent ? service : undefined) },
    members: () => ({ isAlive: async (key) => key === sender.publicKey && isAlive() }),
  });
  closing.push(() => host.close());
  host.serve({
    respond: async () => ({ status: 404, headers: {}, body: '' }),
    isServing: () => true,
    agents: [],
    admit: async () => ({}) as never,
  });
  const links = createLinks({ secret, keys: sender, silentMsMax: 5000 });
  closing.push(() => links.close());
  let streams = 0;
  const counted: Pick<Links, 'request'> = {
    request: (to, head) => {
      streams += 1;
      return links.request(to, head);
    },
  };
  const reports = createDeliveryReports(counted);
  const channels = createSendChannels(counted, reports);
  const to = { link: `127.0.0.1:${host.port}`, publicKey: receiver.publicKey };
  const callOf = (text: string): LinkCall<'send'> => ({
    ...{ agent: 'echo', operation: 'send', key: `key of ${text}`, reportsDelivery: true },
    request: { message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] } } as unknown as SendRequest,
    ctx: {} as LinkCall['ctx'],
  });
  return {
    host,
    send: (text, onAdmitted = () => {}) => channels.send(to, callOf(text), onAdmitted),
    streams: () => streams,
    report: (key) => reports.add(to, key),
    raw: () => links.request(to, { ':method': 'POST', ':path': '/', [SENDS]: '1' }),
  };
}

describe('sends from one replica to another', () => {
  it('share one stream, and are answered in the order in which they are done', async () => {
    const waiting = new Map<string, () => void>();
    const { send, streams } = await pair(async (text) => {
      if (text !== 'last') await new Promise<void>((resolve) => waiting.set(text, resolve));
      return message(text);
    });
    const [first, second, last] = await Promise.all(['first', 'second', 'last'].map((text) => send(text)));
    expect(await last?.answer).toMatchObject({ result: { messageId: 'last' } });
    waiting.get('second')?.();
    expect(await second?.answer).toMatchObject({ result: { messageId: 'second' } });
    waiting.get('first')?.();
    expect(await first?.answer).toMatchObject({ result: { messageId: 'first' } });
    expect(streams()).toBe(1);
  });

  it('leave room for other requests while a large answer is not read', async () => {
    const large = 'x'.repeat(12_000_000);
    const { raw } = await pair(async () => message(large));
    const unread = await raw();
    const call = { agent: 'echo', operation: 'send', request: { message: { parts: [{ text: 'large' }] } }, ctx: {} };
    unread.write(`${JSON.stringify({ n: 1, call })}\n`);
    await once(unread, 'response');
    await once(unread, 'readable'); // the answer has begun
    const statuses = await Promise.all(
      Array.from({ length: 150 }, async () => {
        const stream = await raw();
        const [headers] = await once(stream, 'response');
        stream.close();
        return (headers as IncomingHttpHeaders)[':status'];
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('tell the task before a result that takes long', async () => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const { send } = await pair(async (text, ctx) => {
      ctx.onAdmitted?.(taskId('task-1'));
      await promise;
      return message(text);
    });
    const admitted: string[] = [];
    const sent = await send('long', (task) => admitted.push(task));
    await eventually(() => admitted.length === 1);
    finish();
    expect(await sent.answer).toMatchObject({ result: { messageId: 'long' } });
    expect(admitted).toEqual(['task-1']);
  });

  it('have a larger window than a stream of one request, because they share it', async () => {
    const { send, raw } = await pair(async (text) => message(text));
    await (await send('first')).answer;
    expect((await raw()).session?.remoteSettings.initialWindowSize).toBe(1_048_576);
  });

  it('stop at the owner when their caller leaves, and still tell their task', async () => {
    const [ended, admitted]: [string[], string[]] = [[], []];
    const { send } = await pair(async (text, { signal, onAdmitted }) => {
      onAdmitted?.(taskId('task-1'));
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      ended.push(text);
      return message(text);
    });
    const [left, stays] = [await send('left', (task) => admitted.push(task)), await send('stays')];
    left.cancel();
    expect(await left.answer).toBeUndefined();
    await eventually(() => admitted.length === 1);
    expect([ended, admitted]).toEqual([['left'], ['task-1']]);
    stays.cancel();
  });

  it('return errors with their kind, and say who does not own the cell or serve the agent', async () => {
    const { send } = await pair(async (text) => {
      if (text === 'error') throw new A2AError('TASK_NOT_FOUND', 'no such task');
      throw new ElsewhereError(7);
    });
    expect(await (await send('error')).answer).toMatchObject({ error: { kind: 'TASK_NOT_FOUND', message: 'no such task' } });
    expect(await (await send('moved')).answer).toEqual({ isAway: true, cell: 7 });
    const other = await pair(async (text) => message(text), { agent: 'another' });
    expect(await (await other.send('lacks')).answer).toEqual({ isAway: true, lacksAgent: true });
  });

  it('are refused from a replica that the database does not list any more, also on an open connection', async () => {
    let isListed = true;
    const { send } = await pair(async (text) => message(text), { isAlive: () => isListed });
    expect(await (await send('before')).answer).toMatchObject({ result: { messageId: 'before' } });
    isListed = false;
    expect(await (await send('after')).answer).toEqual({ isAway: true });
  });

  it('report the deliveries of earlier ones with the next', async () => {
    const marked: string[] = [];
    const { send, report, streams } = await pair(async (text, ctx) => {
      ctx.onDelivered?.(() => marked.push(text));
      return message(text);
    });
    expect(await (await send('one')).answer).toMatchObject({ reportsDelivery: true });
    report('key of one');
    await (await send('two')).answer;
    expect(marked).toEqual(['one']);
    expect(streams()).toBe(1);
  });

  it('get their answers from a replica that ends, and no answer for what comes later', async () => {
    let finish = (): void => {};
    const { send, host } = await pair(async (text) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return message(text);
    });
    const running = await send('running');
    await eventually(() => String(finish) !== '() => {}');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // a busy machine must not reach the deadline of `close`
    const closed = host.close();
    const late = await send('late').then(
      ({ answer }) => answer,
      () => undefined,
    );
    expect(late ?? { isAway: true }).toEqual({ isAway: true });
    finish();
    expect(await running.answer).toMatchObject({ result: { messageId: 'running' } });
    await closed;
  });

  it('end without an answer when the connection breaks', async () => {
    let isRunning = false;
    const { send, host } = await pair(() => {
      isRunning = true;
      return new Promise(() => {});
    });
    const sent = await send('never');
    await eventually(() => isRunning);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const closed = host.close();
    vi.runAllTimers(); // the connection breaks if calls do not end in time
    await closed;
    expect(await sent.answer).toBeUndefined();
  });

  it.each(['no json\n', 'null\n', '{"n":1,"reached":7}\n'])('are refused if a line cannot be read: %j', async (line) => {
    const { send, raw } = await pair(async (text) => message(text));
    const stream = await raw();
    const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
    stream.on('error', () => {}).resume();
    stream.write(line);
    await closed;
    expect(await (await send('next')).answer).toMatchObject({ result: { messageId: 'next' } });
  });

  it('end without an answer when the replica writes a line that cannot be read', async () => {
    const server = createServer();
    server.on('stream', (stream) => {
      stream.on('error', () => {}).resume();
      stream.respond();
      stream.write('no json\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => void server.close());
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    closing.push(() => session.destroy());
    const links: Pick<Links, 'request'> = { request: async (_, head) => session.request(head) };
    const channels = createSendChannels(links, createDeliveryReports(links));
    const call = { agent: 'echo', operation: 'send', key: 'k', reportsDelivery: false } as unknown as LinkCall<'send'>;
    const sent = await channels.send({ link: '', publicKey: 'replica' }, call, () => {});
    expect(await sent.answer).toBeUndefined();
  });

  it('get an error if their answer cannot be written, and disturb no other', async () => {
    const { send, streams } = await pair(async (text) => (text === 'large' ? unwritable() : message(text)));
    expect(await (await send('large')).answer).toMatchObject({ error: { kind: 'INTERNAL_ERROR' } });
    expect(await (await send('next')).answer).toMatchObject({ result: { messageId: 'next' } });
    expect(streams()).toBe(1);
  });
});

it('a send whose caller leaves while the connection to the owner opens is canceled there', async () => {
  const caller = new AbortController();
  let isCanceled = false;
  const sends: SendChannels = {
    send: async () => {
      caller.abort();
      return {
        answer: new Promise(() => {}),
        cancel: () => {
          isCanceled = true;
        },
      };
    },
  };
  const elsewhere = { send: () => Promise.reject(new ElsewhereError(7)) } as unknown as A2AService;
  const links = { request: () => Promise.reject(new Error('no streams here')) } as unknown as Links;
  const { send } = routeCalls(elsewhere, 'echo', {
    ...{ ownership: { owner: () => ({}) as ReplicaRow, refresh: async () => {} }, links, reports: createDeliveryReports(links), sends },
    ...{ onForwarded: () => {}, want: async () => {}, holdMs: 10_000 },
  });
  const ctx = { signal: caller.signal, onElsewhere: () => {} } as unknown as CallContext;
  await expect(send({} as SendRequest, ctx)).rejects.toMatchObject({ kind: 'UNAVAILABLE', message: 'the caller has left' });
  expect(isCanceled).toBe(true);
});

/** As a task whose JSON is longer than the longest string of V8. */
function unwritable(): SendResult {
  return {
    toJSON: () => {
      throw new RangeError('Invalid string length');
    },
  } as unknown as SendResult;
}
