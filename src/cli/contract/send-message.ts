import { Backoff } from '#client';
import type { A2AError, SendRequest, SendResult, Task, TaskEvent } from '#protocol';
import { isA2AError, startFold } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import { asCliError } from '../agent/errors.ts';
import { CliError } from '../command.ts';
import { noteWaiting, printEnd, printEvent } from './results.ts';
import type { ContractSession } from './session.ts';
import type { Seen } from './wait.ts';
import { follow, isSettled, nothingSeen, pause, poll } from './wait.ts';

const NOT_STREAMED: ReadonlySet<string> = new Set(['UNSUPPORTED_OPERATION', 'STREAMING_NOT_SUPPORTED', 'METHOD_NOT_FOUND']);

/** The server has refused the stream itself, so that nothing was started, and a plain send starts nothing twice. */
function refusesStreams(thrown: unknown): boolean {
  return isA2AError(thrown) && NOT_STREAMED.has(thrown.kind);
}

export function canStream({ found }: AgentConnection): boolean {
  return found?.card.capabilities.streaming === true;
}

function ctxFor(connection: AgentConnection, request: SendRequest): ReturnType<AgentConnection['ctx']> {
  return connection.ctx({ idempotencyKey: request.message.messageId });
}

/** Sends and comes back at once. */
export async function sendOnly(connection: AgentConnection, request: SendRequest): Promise<SendResult> {
  const configuration = { ...request.configuration, returnImmediately: true };
  return await connection.service.send({ ...request, configuration }, ctxFor(connection, request));
}

/** Sends and waits for the end: by the agent's stream if it has one, and by asking again whenever that does not do. */
export async function sendAndWait(session: ContractSession, connection: AgentConnection, request: SendRequest): Promise<SendResult> {
  return await inTime(session, connection, (seen) => waitFor(session, connection, { request, seen }));
}

/** Whoever waits until the time is up is told which task goes on without them. */
async function inTime<T>(session: ContractSession, connection: AgentConnection, call: (seen: Seen) => Promise<T>): Promise<T> {
  const seen = nothingSeen();
  try {
    return await call(seen);
  } catch (thrown) {
    throw session.signal.aborted ? asCliError(session.signal.reason, { ...connection.call, task: seen.id }) : thrown;
  }
}

interface Sending {
  readonly request: SendRequest;
  readonly seen: Seen;
}

async function waitFor(session: ContractSession, connection: AgentConnection, sending: Sending): Promise<SendResult> {
  const streamed = canStream(connection) ? await waitByStream(session, connection, sending) : undefined;
  if (streamed !== undefined) return streamed;
  const first = await sendOnly(connection, sending.request);
  if (first.message !== undefined || isSettled(first.task)) return first;
  sending.seen.id = first.task.id;
  const hush = noteWaiting(session, first.task);
  try {
    return { task: await poll(session, connection, { id: first.task.id }) };
  } finally {
    hush();
  }
}

/** Undefined: the agent has no streams after all. */
async function waitByStream(
  session: ContractSession,
  connection: AgentConnection,
  { request, seen }: Sending,
): Promise<SendResult | undefined> {
  const fold = startFold();
  let said: TaskEvent | undefined;
  let hush: (() => void) | undefined;
  const onEvent = (event: TaskEvent): void => {
    if (event.message !== undefined) said = event;
    else if (seen.id !== undefined && (event.task !== undefined || hush !== undefined)) fold.add(event);
    if (event.task !== undefined) hush ??= seen.settled ? () => undefined : noteWaiting(session, event.task);
  };
  try {
    const ended = await follow(connection.service.stream(request, ctxFor(connection, request)), seen, onEvent);
    if (said?.message !== undefined) return { message: said.message };
    if (ended === 'cut') session.signal.throwIfAborted(); // it was we who broke it off
    if (seen.id === undefined) throw cut(connection, seen);
    if (ended === 'cut') session.note('warning: the stream broke off; asking for the task instead\n');
    return { task: await finalTask(session, connection, { seen, folded: hush === undefined ? undefined : () => fold.task() }) };
  } catch (thrown) {
    if (refusesStreams(thrown)) return undefined;
    throw thrown;
  } finally {
    hush?.();
  }
}

interface Streamed {
  readonly seen: Seen;
  readonly folded: (() => Task) | undefined;
}

/** The task as the agent has it; as its events told it, if it can't be asked any more. */
async function finalTask(session: ContractSession, connection: AgentConnection, { seen, folded }: Streamed): Promise<Task> {
  if (seen.id === undefined) throw cut(connection, seen);
  try {
    return await poll(session, connection, { id: seen.id });
  } catch (thrown) {
    if (!seen.settled || folded === undefined || session.signal.aborted) throw thrown;
    return folded();
  }
}

/** Sends and prints each event as it comes. A stream that breaks is taken up by subscribing again: its first event is the task. */
export async function sendAndPrint(session: ContractSession, connection: AgentConnection, request: SendRequest): Promise<Seen> {
  return await inTime(session, connection, (seen) => printed(session, connection, { request, seen }));
}

async function printed(session: ContractSession, connection: AgentConnection, { request, seen }: Sending): Promise<Seen> {
  const onEvent = (event: TaskEvent): void => printEvent(session, connection, event);
  if (canStream(connection)) {
    try {
      const ended = await follow(connection.service.stream(request, ctxFor(connection, request)), seen, onEvent);
      if (ended === 'cut') await resubscribe(session, connection, { seen, onEvent });
      printEnd(session, connection, seen);
      return seen;
    } catch (thrown) {
      if (!refusesStreams(thrown)) throw thrown;
    }
  }
  session.note('warning: the agent does not stream; asking for the task instead\n');
  return await sendAndPrintPolled(session, connection, { request, seen });
}

async function sendAndPrintPolled(session: ContractSession, connection: AgentConnection, { request, seen }: Sending): Promise<Seen> {
  const print = (result: SendResult): void => {
    seen.message = result.message !== undefined;
    seen.id = result.task?.id;
    seen.contextId = result.task?.contextId;
    seen.state = result.task?.status.state;
    seen.settled = result.task === undefined || isSettled(result.task);
    printEvent(session, connection, result);
  };
  const first = await sendOnly(connection, request);
  print(first);
  if (first.task !== undefined && !seen.settled) print({ task: await poll(session, connection, { id: first.task.id }) });
  return seen;
}

export interface Following {
  readonly seen: Seen;
  readonly onEvent: (event: TaskEvent) => void;
}

/** As long as a client's streams are healed; a server that restarts is waited for. */
export async function resubscribe(session: ContractSession, connection: AgentConnection, { seen, onEvent }: Following): Promise<void> {
  const { id } = seen;
  if (id === undefined) throw cut(connection, seen);
  const backoff = new Backoff();
  // The task as it stands comes first, again and again: it is no news.
  const onNews = (event: TaskEvent): void => {
    if (event.task === undefined) backoff.renew();
    onEvent(event);
  };
  let failed: A2AError | undefined;
  for (let attempt = 1; ; attempt += 1) {
    session.signal.throwIfAborted(); // it was we who broke it off
    const delayMs = backoff.next(failed);
    if (delayMs === undefined) throw cut(connection, seen);
    session.note(`warning: the stream broke off; subscribing again (${attempt})\n`);
    await pause(session, delayMs);
    try {
      failed = undefined;
      if ((await follow(connection.service.subscribe({ id }, connection.ctx()), seen, onNews)) === 'settled') return;
    } catch (thrown) {
      if (!isA2AError(thrown) || session.signal.aborted) throw thrown;
      if (thrown.kind === 'TASK_FINISHED' || thrown.kind === 'UNSUPPORTED_OPERATION') return await finished(connection, { seen, onEvent });
      failed = thrown;
    }
  }
}

/** It ended while nobody listened, and a finished task takes no subscribers (A2A 1.0.1 §3.1.6): it is asked for instead. */
async function finished(connection: AgentConnection, { seen, onEvent }: Following): Promise<void> {
  if (seen.id === undefined) throw cut(connection, seen);
  const task = await connection.service.get({ id: seen.id }, connection.ctx());
  seen.state = task.status.state;
  seen.settled = isSettled(task);
  onEvent({ task });
  if (!seen.settled) throw cut(connection, seen);
}

function cut({ agent }: AgentConnection, { id }: Seen): CliError {
  return new CliError('the stream broke off before the task came to an end', {
    code: 'PARLEY_ERR_STREAM_CUT',
    hint: id === undefined ? `see what was sent with --debug` : `the task goes on: parley task get ${agent} ${id} --wait`,
  });
}
