import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PushConfigId, TaskEvent, TaskId } from '#protocol';
import { DEFAULT_READ_LIMITS, DIALECTS, isTerminal, randomIds } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { CliError, usage } from '../command.ts';
import { printEnd, printEvent, printTask, warnOf } from '../contract/results.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import type { TaskProgress } from '../contract/wait.ts';
import { nothingSeen, see } from '../contract/wait.ts';
import { GLOBALS, STREAM } from '../flags/globals.ts';
import { textOf } from '../flags/parse.ts';
import { EXITS } from './exits.ts';
import { pushConnection } from './push.ts';

export const listenCommand: Command = contractCommand(
  {
    name: 'task push-config listen',
    summary: 'receive the events of a task: a webhook on this machine, for as long as the task runs.',
    args: [{ name: 'TASK' }],
    flags: [
      { name: 'port', kind: 'text', value: 'N', default: 'any', doc: 'The port to listen on.' },
      { name: 'host', kind: 'text', value: 'ADDRESS', default: '127.0.0.1', doc: 'The address to listen on.' },
      { name: 'url', kind: 'text', value: 'URL', doc: 'How the agent reaches this machine, if not by that address.' },
      { name: 'events', kind: 'text', value: 'N', doc: 'Stop after so many events.' },
      STREAM,
    ],
    globals: GLOBALS,
    details:
      'Registers itself with the agent and takes itself off again at the end. With --stream each event is printed as it comes (with -o json as JSON lines); otherwise only the task at the end.',
    examples: ['parley task push-config listen -a localhost:41242 5d1c0c9e --stream -o json'],
    exits: EXITS,
  },
  async (session) => {
    const connection = await pushConnection(session);
    const seen = await connection.run(() => listen(session, connection), { continued: true });
    warnOf(session, seen.state);
    return 0;
  },
);

const BODY_BYTES_MAX = 16_777_216;

/** Opens a local webhook, registers it for the task, and prints the events that arrive. */
async function listen(session: ContractSession, connection: AgentConnection): Promise<TaskProgress> {
  const taskId = (session.words[0] ?? '') as TaskId;
  const max = eventsMax(session);
  const secret = randomBytes(24).toString('base64url');
  session.secrets.add(secret);
  const seen = nothingSeen();
  // A finished task posts nothing more, so there is nothing to wait for.
  const now = await connection.service.get({ id: taskId }, connection.ctx()).catch(() => undefined);
  if (now !== undefined && isTerminal(now.status.state)) {
    see(seen, { task: now });
    session.note('the task is over already\n');
    if (session.stream) printEvent(session, connection, { task: now });
    await finish(session, connection, seen);
    return seen;
  }
  const receiver = await openReceiver(session, secret);
  let id: PushConfigId | undefined;
  try {
    const url = textOf(session.parsed, 'url') ?? receiver.url;
    const authentication = { scheme: 'Bearer', credentials: secret };
    ({ id } = await connection.service.push.create({ taskId, url, token: secret, authentication }, connection.ctx()));
    session.note(`listening at ${url}\n`);
    let count = 0;
    for await (const event of receiver.events) {
      see(seen, event);
      if (session.stream) printEvent(session, connection, event);
      count += 1;
      if (seen.settled || count >= max) break;
    }
  } finally {
    await remove(connection, taskId, id);
    receiver.close();
  }
  await finish(session, connection, seen);
  return seen;
}

/** Without `--stream`, prints the task as it is now, in one document (A2ACLI_OUT_002). */
async function finish(session: ContractSession, connection: AgentConnection, seen: TaskProgress): Promise<void> {
  if (session.stream) return printEnd(session, connection, seen);
  printTask(session, connection, await connection.service.get({ id: (session.words[0] ?? '') as TaskId }, connection.ctx()));
}

const REMOVE_MS_MAX = 5000;

/** A finished task may have lost its configurations. Also after `--timeout`, so it has its own time limit. */
async function remove(connection: AgentConnection, taskId: TaskId, id: PushConfigId | undefined): Promise<void> {
  if (id === undefined) return;
  const ctx = { ...connection.ctx(), signal: AbortSignal.timeout(REMOVE_MS_MAX) };
  await connection.service.push.delete({ taskId, id }, ctx).catch(() => undefined);
}

function eventsMax({ parsed }: ContractSession): number {
  const text = textOf(parsed, 'events');
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usage(`--events: ${text} is no number of events`, 'example: --events 10');
  return Number(text);
}

interface Receiver {
  readonly url: string;
  readonly events: AsyncIterable<TaskEvent>;
  close(): void;
}

/** Accepts only requests with our token: anybody can post to an open port. */
async function openReceiver(session: ContractSession, secret: string): Promise<Receiver> {
  const queue: TaskEvent[] = [];
  let wake = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    const end = (status: number): void => void response.writeHead(status).end();
    if (request.method !== 'POST') return end(405);
    const shown = [request.headers.authorization?.replace(/^Bearer /i, ''), request.headers['x-a2a-notification-token']];
    if (!shown.some((given) => isSame(given, secret))) return end(401);
    if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return end(413);
    text(request).then(
      (body) => {
        const event = eventIn(body);
        if (event === undefined) return end(400);
        queue.push(event);
        wake.resolve();
        end(200);
      },
      () => end(400),
    );
  });
  const [port, host] = [textOf(session.parsed, 'port') ?? '0', textOf(session.parsed, 'host') ?? '127.0.0.1'];
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw usage(`--port: ${port} is no port`, 'example: --port 8080');
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new CliError(`port ${port} of ${host} can't be used: ${cause.message}`, { hint: 'choose another with --port', cause })),
    );
    server.listen(Number(port), host, resolve);
  });
  session.signal.addEventListener('abort', () => wake.resolve());
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/`,
    events: {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          await wake.promise;
          session.signal.throwIfAborted();
          wake = Promise.withResolvers<void>();
          yield* queue.splice(0);
        }
      },
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function isSame(given: unknown, secret: string): boolean {
  if (typeof given !== 'string' || given.length !== secret.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(secret));
}

/** A StreamResponse in 1.0, a task in older versions. */
function eventIn(body: string): TaskEvent | undefined {
  const env = { ids: randomIds, limits: DEFAULT_READ_LIMITS };
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch {
    return undefined;
  }
  for (const dialect of DIALECTS) {
    const event = dialect.decode('event', raw, env);
    if (event.ok) return event.value;
    const task = dialect.decode('get.result', raw, env);
    if (task.ok) return { task: task.value };
  }
  return undefined;
}
