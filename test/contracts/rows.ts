import type { LogEntry, Owner, PushRow, SendRecord, TaskKey, TaskRow, Write } from '#engine';
import type { Message, Seq, TaskEvent, TaskState } from '#protocol';
import { artifactId, contextId, dialectId, messageId, pushConfigId, seq, taskId } from '#protocol';

/** Rows, entries and writes for the tests of stores. The numbers in their names are keys. */
export const ALICE: Owner = { tenant: '', principal: 'alice' };
export const BOB: Owner = { tenant: '', principal: 'bob' };
export const seqOf: (position: number) => Seq = seq;

export function rowOf(key: number, more: Partial<TaskRow> = {}): TaskRow {
  return {
    key: key as TaskKey,
    id: taskId(`t${key}`),
    owner: ALICE,
    agent: 'echo',
    contextId: contextId('c'),
    dialect: dialectId('v10'),
    state: 'TASK_STATE_WORKING',
    statusAt: 1000,
    last: seq(0),
    turn: seq(1),
    attempt: 0,
    bytes: 0,
    ...more,
  };
}

export function entriesOf(from: number, to: number): LogEntry[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({ seq: seq(from + at), event: status('TASK_STATE_WORKING', `${from + at}`) }));
}

export function aTask(key: number, more: Partial<TaskRow>, length: number): Write {
  return { kind: 'task', row: rowOf(key, { ...more, last: seq(length) }), isNew: true, entries: entriesOf(1, length) };
}

interface SendOptions {
  readonly token?: string;
  readonly at?: number;
  readonly answer?: string;
}

export function aSend(key: number, { token = `id m${key}`, at = 1000, answer }: SendOptions = {}): Write {
  const record: SendRecord = {
    owner: ALICE,
    agent: 'echo',
    token,
    fingerprint: 'f',
    at,
    delivered: false,
    ...(answer === undefined ? { task: { key: key as TaskKey, id: taskId(`t${key}`), seq: seq(1) } } : { answer: said('answer', answer) }),
  };
  return { kind: 'send', record };
}

export function aPush(key: number, id: string, more: { readonly url?: string; readonly after?: number } = {}): Write {
  const push: PushRow = {
    config: { id: pushConfigId(id), url: more.url ?? 'https://example.com/hook', authentication: { scheme: 'Bearer', credentials: 'x' } },
    dialect: dialectId('v10'),
    after: seq(more.after ?? 1),
  };
  return { kind: 'push', task: key as TaskKey, push };
}

function said(id: string, text: string): Message {
  return { messageId: messageId(id), role: 'ROLE_AGENT', parts: [{ text }] };
}

function status(state: TaskState, id: string): TaskEvent {
  const timestamp = '2026-01-01T00:00:00.000Z';
  return { statusUpdate: { taskId: taskId('t'), contextId: contextId('c'), status: { state, message: said(id, id), timestamp } } };
}

/** A log with every member that an entry can have, and with text that is easily damaged. */
export function history(): readonly LogEntry[] {
  const of = { taskId: taskId('t'), contextId: contextId('c') };
  const hard = 'quote " back\\slash nul \u0000 line\u2028 emoji 😀 half \ud83d bom \ufeff';
  const message: Message = {
    messageId: messageId('m1'),
    role: 'ROLE_USER',
    parts: [
      { text: hard },
      { data: { deep: [1, 1.5, -0.25, null, true, { __x: {} }] }, metadata: { a: [] } },
      { raw: 'AAEC', filename: 'f.bin' },
    ],
  };
  const events: readonly (readonly [TaskEvent, Omit<LogEntry, 'seq' | 'event'>?])[] = [
    [
      {
        task: {
          id: of.taskId,
          contextId: of.contextId,
          status: { state: 'TASK_STATE_WORKING' },
          history: [message],
          metadata: { k: hard },
        },
      },
      { modes: ['text/plain'] },
    ],
    [{ artifactUpdate: { ...of, artifact: { artifactId: artifactId('a'), parts: [{ text: hard }] } } }],
    [
      { artifactUpdate: { ...of, append: true, artifact: { artifactId: artifactId('a'), parts: [{ text: 'blob:abc' }] } } },
      { spilled: [0] },
    ],
    [status('TASK_STATE_INPUT_REQUIRED', 'q')],
    [status('TASK_STATE_WORKING', 'w'), { input: message, queued: true, modes: ['text/plain', 'application/json'] }],
    [
      {
        artifactUpdate: {
          ...of,
          append: true,
          lastChunk: true,
          artifact: { artifactId: artifactId('a'), parts: [{ url: 'https://e.org/x' }] },
        },
      },
    ],
    [status('TASK_STATE_COMPLETED', 'done')],
  ];
  return events.map(([event, notes], at) => ({ seq: (at + 1) as Seq, event, ...notes }));
}
