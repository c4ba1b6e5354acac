import type { Task, TaskEvent } from '#protocol';
import { createUserMessage, isA2AError, isTerminal, linkSignals } from '#protocol';
import { isSettled } from '../calls/request.ts';
import { isClientError } from '../errors/client-error.ts';
import { explain } from '../errors/explain.ts';
import type { Finding } from './finding.ts';
import { error, note, ok, warning } from './finding.ts';
import type { WorkingInterface } from './interfaces.ts';
import { contextFor } from './interfaces.ts';

/** The message to send, and how. */
export interface MessageTest {
  readonly text: string;
  readonly streams: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The content type of the last response. */
  readonly lastType: () => string;
}

/** Sends a message, and again as a stream if the card declares streaming. */
export async function sendAndStreamFindings(works: WorkingInterface, saying: MessageTest): Promise<readonly Finding[]> {
  const sent = await sendFindings(works, saying);
  if (sent.some(({ level }) => level === 'error')) return sent;
  if (!saying.streams) return [...sent, note('no-streaming', 'the card declares no streaming; clients will poll')];
  return [...sent, ...(await streamFindings(works, saying))];
}

function timeLimit({ signal, timeoutMs }: MessageTest): AbortSignal {
  return linkSignals([signal], timeoutMs).signal;
}

/** Sends the message and waits for the result. */
async function sendFindings({ service, dialect, url }: WorkingInterface, saying: MessageTest): Promise<readonly Finding[]> {
  try {
    const result = await service.send(
      { message: createUserMessage(saying.text), configuration: { returnImmediately: false } },
      contextFor(dialect, timeLimit(saying)),
    );
    if (result.message !== undefined) return [ok('send', 'it answers with a message', { url })];
    return taskFindings(result.task, url);
  } catch (thrown) {
    const failure = explain(thrown, url);
    if (isClientError(failure) && failure.kind === 'timeout')
      return [
        error('send-silent', 'it accepts a message and does not answer', {
          why: failure.why,
          url,
          fix: 'answer long work with a task that clients can poll; read the server’s log',
        }),
      ];
    if (isA2AError(failure))
      return [
        error('send-refused', 'it refuses a plain text message', {
          why: `${failure.kind}: ${failure.message}`,
          url,
          fix: 'its card should say what it accepts (defaultInputModes, skills)',
        }),
      ];
    return [
      error('send-garbage', 'its answer to a message is not A2A', {
        why: failure.why ?? failure.message,
        url,
        fix: 'see it with --debug',
      }),
    ];
  }
}

/** Judges the task that a blocking send returned. */
function taskFindings(task: Task, url: string): readonly Finding[] {
  const { state } = task.status;
  if (!isSettled(state))
    return [
      warning('send-not-blocking', `it was asked to wait and answers while the task is ${state}`, {
        url,
        fix: 'answer a blocking send when the task is done or needs input (A2A 1.0.1 §3.2.2)',
      }),
    ];
  if (state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED')
    return [warning('task-failed', `the task ended ${state}`, { why: task.status.message?.parts[0]?.text, url })];
  return [ok('send', `it answers with a task, ${state}`, { url })];
}

/** Sends the message as a stream and reads all of it. */
async function streamFindings({ service, dialect, url }: WorkingInterface, saying: MessageTest): Promise<readonly Finding[]> {
  const events: TaskEvent[] = [];
  try {
    for await (const batch of service.stream({ message: createUserMessage(saying.text) }, contextFor(dialect, timeLimit(saying))))
      events.push(...batch.map(({ event }) => event));
  } catch (thrown) {
    const broken = brokenStream(thrown, { events, url });
    if (broken !== undefined) return [broken];
  }
  if (!/event-stream/.test(saying.lastType()))
    return [
      error('stream-not-sse', 'the card declares streaming, but the agent answers with one document', {
        why: `it comes as ${saying.lastType() || 'no type'}`,
        url,
        fix: 'send text/event-stream, or declare streaming: false',
      }),
    ];
  return endFindings(events, url);
}

/**
 * The finding for a stream that failed. Undefined if it failed after its last event, which harms
 * nobody.
 */
function brokenStream(
  thrown: unknown,
  { events, url }: { readonly events: readonly TaskEvent[]; readonly url: string },
): Finding | undefined {
  const failure = explain(thrown, url);
  if (isA2AError(failure))
    return error('stream-refused', 'the card declares streaming, but the agent refuses a stream', {
      why: `${failure.kind}: ${failure.message}`,
      url,
      fix: 'declare streaming: false, or stream',
    });
  const { kind, why } = failure;
  if (kind === 'timeout')
    return error('stream-silent', `the stream stops after ${events.length} events`, {
      why,
      url,
      fix: 'end it when the task ends, and send comments meanwhile to keep it alive',
    });
  if (kind === 'stream-cut' || kind === 'cut-off' || kind === 'unreachable')
    return isOver(events)
      ? undefined
      : error('stream-cut', `the connection is lost after ${events.length} events`, {
          why,
          url,
          fix: 'a proxy or a timeout cuts it: raise its idle limit, and send comments to keep it alive',
        });
  return error('stream-garbage', `the stream has frames that are not A2A, after ${events.length} good ones`, {
    why,
    url,
    fix: 'see them with --debug',
  });
}

/** Judges how the stream started and ended. */
function endFindings(events: readonly TaskEvent[], url: string): readonly Finding[] {
  const [first] = events;
  if (first === undefined)
    return [error('stream-empty', 'the stream ends without a single event', { url, fix: 'send the task first, and its end last' })];
  if (!isOver(events))
    return [
      error('stream-unfinished', `the stream ends after ${events.length} events, and the task does not`, {
        url,
        fix: 'keep it open until the task is done or needs input',
      }),
    ];
  if (first.task === undefined && first.message === undefined)
    return [warning('stream-no-task', 'the stream does not begin with the task', { url, fix: 'send the task first (A2A 3.1.2)' })];
  return [ok('stream', `it streams, ${events.length} events`, { url })];
}

function isOver(events: readonly TaskEvent[]): boolean {
  const last = events.at(-1);
  const state = last?.statusUpdate?.status.state ?? last?.task?.status.state;
  return last?.message !== undefined || (state !== undefined && (isTerminal(state) || /_REQUIRED$/.test(state)));
}
