import { Backoff } from '#client';
import type { A2AError, SendRequest, SendResult, Task, TaskEvent } from '#protocol';
import { isA2AError, startFold } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import { asCliError } from '../agent/errors.ts';
import { quoted } from '../agent/words.ts';
import { CliError } from '../command.ts';
import { noteWaiting, printEnd, printEvent } from './results.ts';
import type { ContractSession } from './session.ts';
import type { TaskProgress } from './wait.ts';
import { follow, isSettled, noteOnce, nothingSeen, pause, poll, see } from './wait.ts';

const NOT_STREAMED: ReadonlySet<string> = new Set(['UNSUPPORTED_OPERATION', 'STREAMING_NOT_SUPPORTED', 'METHOD_NOT_FOUND']);

/**
 * The server refused the stream itself, so nothing was started, and a send without a stream starts nothing twice. If the message names a
 * task or a context, the refusal may be about that: nothing is sent again then (A2ACLI_INTERACT_002).
 */
function refusesStreams(thrown: unknown, { message }: SendRequest): boolean {
  if (!isA2AError(thrown)) return false;
  if (message.taskId !== undefined || message.contextId !== undefined) return thrown.kind === 'METHOD_NOT_FOUND';
  return NOT_STREAMED.has(thrown.kind);
}

/** Whether the card declares streaming. */
export function canStream({ found }: AgentConnection): boolean {
  return found?.card.capabilities.streaming === true;
}

function ctxFor(connection: AgentConnection, request: SendRequest): ReturnType<AgentConnection['ctx']> {
  return connection.ctx({ idempotencyKey: request.message.messageId });
}

/** Sends and returns at once. */
export async function sendOnly(connection: AgentConnection, request: SendRequest): Promise<SendResult> {
  const configuration = { ...request.configuration, returnImmediately: true };
  return await connection.service.send({ ...request, configuration }, ctxFor(connection, request));
}

/** Sends and waits until the task is settled: by stream if the agent has streams, otherwise by polling. */
export async function sendAndWait(session: ContractSession, connection: AgentConnection, request: SendRequest): Promise<SendResult> {
  return await inTime(session, connection, (seen) => waitFor(session, connection, { request, seen }));
}

/** After `--timeout`, the error names the task that still runs. */
async function inTime<T>(session: ContractSession, connection: AgentConnection, call: (seen: TaskProgress) => Promise<T>): Promise<T> {
  const seen = nothingSeen();
  try {
    return await call(seen);
  } catch (thrown) {
    throw session.signal.aborted ? asCliError(session.signal.reason, { ...connection.call, task: seen.id }) : thrown;
  }
}

interface Sending {
  readonly request: SendRequest;
  readonly seen: TaskProgress;
}

/** Waits for the result, by a stream if the agent has one, otherwise by polling. */
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

/** Undefined if the agent refuses the stream. */
async function waitByStream(
  session: ContractSession,
  connection: AgentConnection,
  { request, seen }: Sending,
): Promise<SendResult | undefined> {
  const fold = startFold();
  let said: (TaskEvent & SendResult) | undefined;
  let hush: (() => void) | undefined;
  const onEvent = (event: TaskEvent): void => {
    if (event.message !== undefined) said = event;
    else if (seen.id !== undefined && (event.task !== undefined || hush !== undefined)) fold.add(event);
    if (event.task !== undefined) hush ??= seen.settled ? () => undefined : noteWaiting(session, event.task);
  };
  try {
    const ended = await follow(connection.service.stream(request, ctxFor(connection, request)), seen, onEvent);
    if (said?.message !== undefined) return said; // the event as it came: nothing of it is dropped
    if (ended === 'cut') session.signal.throwIfAborted(); // --timeout has passed
    if (seen.id === undefined) throw cut(connection, seen);
    if (ended === 'cut') session.note('warning: the stream was cut; polling the task instead\n');
    return { task: await finalTask(session, connection, { seen, folded: hush === undefined ? undefined : () => fold.task() }) };
  } catch (thrown) {
    if (refusesStreams(thrown, request)) return undefined;
    throw thrown;
  } finally {
    hush?.();
  }
}

interface Streamed {
  readonly seen: TaskProgress;
  readonly folded: (() => Task) | undefined;
}

/** The task from the agent, or from its events if the agent can't be reached any more. */
async function finalTask(session: ContractSession, connection: AgentConnection, { seen, folded }: Streamed): Promise<Task> {
  if (seen.id === undefined) throw cut(connection, seen);
  try {
    return await poll(session, connection, { id: seen.id });
  } catch (thrown) {
    if (!seen.settled || folded === undefined || session.signal.aborted) throw thrown;
    return folded();
  }
}

/** Sends and prints each event. Subscribes again after a lost connection; the first event is the task then. */
export async function sendAndPrint(session: ContractSession, connection: AgentConnection, request: SendRequest): Promise<TaskProgress> {
  return await inTime(session, connection, (seen) => printed(session, connection, { request, seen }));
}

/** Prints each event as it comes. Falls back to polling if the agent has no streams. */
async function printed(session: ContractSession, connection: AgentConnection, { request, seen }: Sending): Promise<TaskProgress> {
  const onEvent = (event: TaskEvent): void => printEvent(session, connection, event);
  if (canStream(connection)) {
    try {
      const ended = await follow(connection.service.stream(request, ctxFor(connection, request)), seen, onEvent);
      if (ended === 'cut') await resubscribe(session, connection, { seen, onEvent });
      printEnd(session, connection, seen);
      return seen;
    } catch (thrown) {
      if (!refusesStreams(thrown, request)) throw thrown;
    }
  }
  session.note('warning: the agent does not stream; polling the task instead\n');
  return await sendAndPrintPolled(session, connection, { request, seen });
}

async function sendAndPrintPolled(
  session: ContractSession,
  connection: AgentConnection,
  { request, seen }: Sending,
): Promise<TaskProgress> {
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

export interface FollowedStream {
  readonly seen: TaskProgress;
  readonly onEvent: (event: TaskEvent) => void;
}

/** Subscribes again, for as long as the client's own streams would. A server that restarts is waited for. One that refuses is polled. */
export async function resubscribe(session: ContractSession, connection: AgentConnection, { seen, onEvent }: FollowedStream): Promise<void> {
  const { id } = seen;
  if (id === undefined) throw cut(connection, seen);
  const backoff = new Backoff();
  // The first event of each subscription is the task itself, which is not news.
  const onNews = (event: TaskEvent): void => {
    if (event.task === undefined) backoff.renew();
    onEvent(event);
  };
  let failed: A2AError | undefined;
  const noteRetries = noteOnce(session, connection);
  for (let attempt = 1; ; attempt += 1) {
    session.signal.throwIfAborted(); // --timeout has passed
    const delayMs = backoff.next(failed);
    if (delayMs === undefined && failed?.kind === 'UNAVAILABLE') throw cut(connection, seen);
    if (delayMs === undefined) return await pollInstead(session, connection, { seen, onEvent });
    if (failed === undefined) session.note(`warning: the stream was cut; subscribing again (${attempt})\n`);
    else noteRetries.note();
    await pause(session, delayMs);
    try {
      failed = undefined;
      if ((await follow(connection.service.subscribe({ id }, connection.ctx()), seen, onNews)) === 'settled') return;
    } catch (thrown) {
      if (!isA2AError(thrown) || session.signal.aborted) throw thrown;
      if (refusesSubscriptions(thrown)) return await pollInstead(session, connection, { seen, onEvent });
      failed = thrown;
    }
  }
}

/**
 * A finished task accepts no subscription (A2A 1.0.1 §3.1.6), and some agents accept none at all. The task is read instead. Python's SDK 0.3
 * refuses a finished task with -32602.
 */
export function refusesSubscriptions(thrown: unknown): boolean {
  if (!isA2AError(thrown)) return false;
  return thrown.kind === 'TASK_FINISHED' || thrown.kind === 'INVALID_PARAMS' || NOT_STREAMED.has(thrown.kind);
}

export async function pollInstead(session: ContractSession, connection: AgentConnection, { seen, onEvent }: FollowedStream): Promise<void> {
  if (seen.id === undefined) throw cut(connection, seen);
  const task = await poll(session, connection, { id: seen.id });
  see(seen, { task });
  onEvent({ task });
}

function cut({ agent }: AgentConnection, { id }: TaskProgress): CliError {
  return new CliError('the stream was cut before the task was settled', {
    code: 'PARLEY_ERR_STREAM_CUT',
    hint: id === undefined ? `see what was sent with --debug` : `the task still runs: parley task get ${agent} ${quoted(id)} --wait`,
  });
}
