import type { Task } from '#protocol';
import { isTerminal } from '#protocol';
import { freshName, getTask, sendInit, sendTask } from './client.ts';
import type { WireFrame } from './frames.ts';
import { eventOf, eventsOf } from './frames.ts';

/** Everything that a caller has received about a task. All of it must stay true. */
export interface Seen {
  /** Data of every frame, by its id. */
  readonly frames: Map<number, string>;
  /** First frames of streams: the task at that sequence number. */
  readonly snapshots: { readonly seq: number; readonly task: Task }[];
  /** Responses to sends and gets. */
  readonly answers: Task[];
}

export type Ledger = Map<string, Seen>;

export function seenOf(ledger: Ledger, id: string): Seen {
  const known = ledger.get(id) ?? { frames: new Map(), snapshots: [], answers: [] };
  ledger.set(id, known);
  return known;
}

/** The work of a client. If the server dies, the work is continued with the next server. */
export interface Job {
  readonly kind: 'send' | 'stream' | 'poll';
  /** Also the name of the context, so that a message without a response can be found. */
  readonly name: string;
  readonly chunks: number;
  readonly text: string;
  taskId?: string;
  lastId?: number;
}

export function newJob(kind: Job['kind']): Job {
  const chunks = 1 + Math.floor(Math.random() * (kind === 'send' ? 5 : 30));
  const delay = kind === 'send' ? 0 : Math.floor(Math.random() * 4);
  return { kind, name: freshName(kind), chunks, text: `chunks=${chunks} delay=${delay}` };
}

/** Rejects when the server dies. */
export async function work(url: string, ledger: Ledger, job: Job): Promise<void> {
  switch (job.kind) {
    case 'send':
      return send(url, ledger, job);
    case 'stream':
      return stream(url, ledger, job);
    case 'poll':
      return poll(url, ledger, job);
  }
}

async function send(url: string, ledger: Ledger, job: Job): Promise<void> {
  const task = await sendTask(url, job.text, { messageId: job.name, contextId: job.name });
  seenOf(ledger, task.id).answers.push(task);
  if (!isTerminal(task.status.state)) throw new Error(`a blocking send was answered with ${task.status.state}`);
}

async function poll(url: string, ledger: Ledger, job: Job): Promise<void> {
  let task =
    job.taskId === undefined
      ? await sendTask(url, job.text, { messageId: job.name, contextId: job.name, returnImmediately: true })
      : await getTask(url, job.taskId);
  job.taskId = task.id;
  const { answers } = seenOf(ledger, task.id);
  for (answers.push(task); !isTerminal(task.status.state); answers.push(task)) task = await getTask(url, task.id);
}

function placeOf({ id, raw }: WireFrame): number {
  if (id === undefined) throw new Error(`an event without a number, which reports an error: ${raw}`);
  return Number(id);
}

async function stream(url: string, ledger: Ledger, job: Job): Promise<void> {
  const response =
    job.taskId === undefined
      ? await fetch(`${url}/message:stream`, sendInit(job.text, { messageId: job.name, contextId: job.name }))
      : await fetch(`${url}/tasks/${job.taskId}:subscribe`, { headers: { 'Last-Event-ID': String(job.lastId) } });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  let isFirst = true;
  let isOver = false;
  for await (const frame of eventsOf(response)) {
    const { task, statusUpdate, artifactUpdate } = eventOf(frame);
    const place = placeOf(frame);
    const id = task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId ?? '';
    const seen = seenOf(ledger, id);
    if (isFirst !== (task !== undefined)) throw new Error(`the task comes first, and only once: ${frame.raw}`);
    if (task !== undefined) {
      if (job.lastId !== undefined && place !== job.lastId) throw new Error(`asked for ${job.lastId}, got ${place}`);
      seen.snapshots.push({ seq: place, task });
    } else {
      if (place !== (job.lastId ?? 0) + 1) throw new Error(`${job.lastId}, and then ${place}`);
      seen.frames.set(place, frame.data ?? '');
    }
    isFirst = false;
    isOver = isTerminal(task?.status.state ?? statusUpdate?.status.state ?? 'TASK_STATE_WORKING');
    job.taskId = id;
    job.lastId = place;
  }
  if (!isOver) throw new Error('the stream ended before its task');
}
