import type { LogEntry } from '#engine';
import type { TaskEvent } from '#protocol';
import { isTerminal, parseOwnJson } from '#protocol';
import type { ChangedTask, CommitEffect, CommitRequest, NewTask } from '../database/commit.ts';
import type { Findings } from '../invariants.ts';

/** An event that is stored. Most are compared with what was shown, and some never: so the JSON is made when it is needed. */
class KnownEntry {
  readonly event: TaskEvent;
  #json: string | undefined;

  constructor(event: TaskEvent) {
    this.event = event;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.event);
    return this.#json;
  }
}

/** What the database has acknowledged of one task. */
export interface TaskHistory {
  readonly id: string;
  readonly entries: KnownEntry[];
  /** States with their times, as callers see them. */
  readonly statuses: Set<string>;
  /** The messages of the caller, and the process that wrote each. */
  readonly messages: Map<string, number>;
  /** The newest run that has written, by the message that it answers. */
  readonly newestRun: Map<string, number>;
  /** The highest attempt that each process has written. */
  readonly attempts: Map<number, number>;
  isOver: boolean;
}

/** The mark of a run in the text that it writes: the message that it answers, and its number. */
export const RUN_MARK: RegExp = /\[([^ \]]+) run (\d+)\]/;

/** A second account of every log, made from the commits alone. */
export class Histories {
  readonly #findings: Findings;
  readonly #byKey = new Map<number, TaskHistory>();
  readonly #byId = new Map<string, TaskHistory>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  get(id: string): TaskHistory | undefined {
    return this.#byId.get(id);
  }

  all(): Iterable<TaskHistory> {
    return this.#byId.values();
  }

  add(process: number, request: CommitRequest, effect: CommitEffect): void {
    for (const made of effect.made) {
      const isFresh = !this.#byKey.has(made.key);
      this.#findings.check('ids-never-reused', isFresh, () => `the key ${made.key} was used before`);
      const history: TaskHistory = {
        id: made.id,
        entries: [],
        statuses: new Set(),
        messages: new Map(),
        newestRun: new Map(),
        attempts: new Map(),
        isOver: false,
      };
      this.#byKey.set(made.key, history);
      this.#byId.set(made.id, history);
      this.#append(process, history, made);
    }
    for (const changed of request.changed) {
      const history = this.#byKey.get(changed.key);
      if (history !== undefined) this.#append(process, history, changed);
    }
  }

  #append(process: number, history: TaskHistory, segment: NewTask | ChangedTask): void {
    history.attempts.set(process, Math.max(segment.attempt, history.attempts.get(process) ?? 0));
    const entries = [...parsed(segment.words), ...parsed(segment.chunks)].sort((left, right) => left.seq - right.seq);
    for (const { seq, event, input } of entries) {
      const next = history.entries.length + 1;
      this.#findings.check('log-whole', seq === next, () => `task ${history.id}: entry ${seq} where ${next} belongs`);
      this.#findings.check('log-whole', !history.isOver, () => `task ${history.id}: entry ${seq} after its end`);
      history.entries.push(new KnownEntry(event));
      const status = event.statusUpdate?.status ?? event.task?.status;
      if (status !== undefined) {
        history.statuses.add(`${status.state} ${status.timestamp}`);
        history.isOver ||= isTerminal(status.state);
      }
      const message = input ?? event.task?.history?.[0];
      if (message !== undefined) history.messages.set(message.messageId, process);
      this.#checkRun(history, event);
    }
  }

  #checkRun({ id, newestRun }: TaskHistory, event: TaskEvent): void {
    const text = event.artifactUpdate?.artifact.parts[0]?.text ?? '';
    const [, turn, run] = RUN_MARK.exec(text) ?? [];
    if (turn === undefined) return;
    const newest = newestRun.get(turn) ?? 0;
    this.#findings.check('one-run-writes', Number(run) >= newest, () => `task ${id}: run ${run} wrote after run ${newest}`);
    newestRun.set(turn, Math.max(newest, Number(run)));
  }
}

function parsed(json: string | null): readonly LogEntry[] {
  return json === null ? [] : parseOwnJson<readonly LogEntry[]>(json);
}
