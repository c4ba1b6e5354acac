import { isDeepStrictEqual } from 'node:util';
import type { AdminTask, Task, TaskState } from '#protocol';
import type { LoggedEvent } from './client.ts';
import { chunksText, getJson, logOf, textOf } from './client.ts';
import type { Ledger, Seen } from './ledger.ts';

export interface Verdict {
  /** Events, snapshots and answers that callers saw and the log does not hold. */
  readonly lost: number;
  /** Logs that are not numbered 1, 2, 3… */
  readonly gaps: number;
  /** Chunks that are there twice. */
  readonly doubled: number;
  /** Rows that differ from the fold of their log. */
  readonly wrong: number;
  readonly details: readonly string[];
}

export const NOTHING: Verdict = { lost: 0, gaps: 0, doubled: 0, wrong: 0, details: [] };

export function plus(left: Verdict, right: Verdict): Verdict {
  return {
    lost: left.lost + right.lost,
    gaps: left.gaps + right.gaps,
    doubled: left.doubled + right.doubled,
    wrong: left.wrong + right.wrong,
    details: [...left.details, ...right.details].slice(0, 10),
  };
}

/** Compares everything that callers have received with the log. */
export async function verifyAll(url: string, ledger: Ledger): Promise<Verdict> {
  let verdict = NOTHING;
  for (const [id, seen] of ledger) verdict = plus(verdict, await verify(url, id, seen));
  return verdict;
}

async function verify(url: string, id: string, seen: Seen): Promise<Verdict> {
  const row = (await getJson(`${url}/api/parley/v1/tasks/${id}`).catch(() => undefined)) as (AdminTask & { task: Task }) | undefined;
  const log = row === undefined ? undefined : await logOf(url, id);
  if (row === undefined || log === undefined) return lost(sizeOf(seen), `${id} is gone`);
  const details: string[] = [];
  const count = (isBad: boolean, what: string): number => {
    if (isBad) details.push(`${id}: ${what}`);
    return isBad ? 1 : 0;
  };
  const gaps = count(!log.every(({ seq }, at) => seq === at + 1), 'gaps');
  let missing = 0;
  for (const [seq, data] of seen.frames)
    missing += count(!isDeepStrictEqual(log[seq - 1]?.event, JSON.parse(data)), `event ${seq} was ${data}`);
  for (const { seq, task } of seen.snapshots)
    missing += count(log.length < seq || !isAt(fold(log.slice(0, seq)), task), `snapshot at ${seq} was ${task.status.state}`);
  for (const task of seen.answers)
    missing += count(!isIn(log, task), `answer was ${task.status.state} with ${textOf(task).length} characters`);
  const now = fold(log.slice(0, row.last));
  const wrong = count(row.state !== now.state || !isAt(now, row.task) || log.length < row.last, `row says ${row.state}, log ${now.state}`);
  const made = textOf(row.task);
  const doubled = count(made !== chunksText(made.split('chunk ').length - 1), `text ${made}`);
  return { lost: missing, gaps, doubled, wrong, details };
}

function lost(count: number, detail: string): Verdict {
  return { ...NOTHING, lost: count, details: [detail] };
}

function sizeOf({ frames, snapshots, answers }: Seen): number {
  return frames.size + snapshots.length + answers.length;
}

interface Folded {
  readonly state: TaskState | undefined;
  readonly text: string;
}

/** An independent fold, so that a mistake in the engine's fold shows. */
function fold(log: readonly LoggedEvent[]): Folded {
  let state: TaskState | undefined;
  let text = '';
  for (const { event } of log) {
    state = event.task?.status.state ?? event.statusUpdate?.status.state ?? state;
    if (event.artifactUpdate === undefined) continue;
    const added = textOf({ artifacts: [event.artifactUpdate.artifact] } as unknown as Task);
    text = event.artifactUpdate.append === true ? text + added : added;
  }
  return { state, text };
}

function isAt({ state, text }: Folded, task: Task): boolean {
  return state === task.status.state && text === textOf(task);
}

/** Whether the task had this state at some sequence number. */
function isIn(log: readonly LoggedEvent[], task: Task): boolean {
  const text = textOf(task);
  for (let end = log.length; end > 0; end -= 1) {
    const folded = fold(log.slice(0, end));
    if (folded.state === task.status.state && folded.text === text) return true;
  }
  return false;
}
