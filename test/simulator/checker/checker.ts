import type { Logged, Task } from '#protocol';
import { taskId } from '#protocol';
import type { CommitEffect, CommitRequest } from '../database/commit.ts';
import type { ServerEvents, Statement } from '../database/server.ts';
import type { Tables } from '../database/tables.ts';
import { Findings } from '../invariants.ts';
import type { TaskHistory } from './history.ts';
import { Histories } from './history.ts';

interface StartedRun {
  readonly run: number;
  readonly process: number;
}

/** A run that is about to start, as its agent sees it. */
export interface RunStart {
  readonly process: number;
  readonly task: string;
  readonly message: string;
  readonly attempt: number;
  readonly recovery: 'resume' | 'retry' | 'fail';
}

/** Watches everything from outside, and knows nothing of the engine's memory. */
export class Checker implements ServerEvents {
  readonly findings: Findings = new Findings();
  readonly histories: Histories = new Histories(this.findings);
  tables: Tables | undefined;
  readonly #replicas = new Map<number, number>();
  readonly #writers = new Map<number, number>();
  readonly #buried = new Set<number>();
  /** The end of each lease as the server last wrote it, and the newest replica with which each process writes. */
  readonly #until = new Map<number, number>();
  readonly #newest = new Map<number, number>();
  readonly #owners = new Map<number, number>();
  /** The task of each name of a send. */
  readonly #names = new Map<string, number>();
  /** The newest task of each name that a caller has given to tasks. */
  readonly #aliases = new Map<string, number>();
  /** Statements that were written, and those that must never be. */
  readonly #written = new Set<number>();
  readonly #refused = new Set<number>();
  readonly #heldCounts = new Map<number, number>();
  readonly #places = new Map<string, number>();
  readonly #starts = new Map<string, StartedRun[]>();
  #runs = 0;

  entered(process: number, replica: number): void {
    this.findings.check('ids-never-reused', !this.#replicas.has(replica), () => `replica ${replica} was used before`);
    this.#replicas.set(replica, process);
    this.#until.set(replica, this.tables?.replicas.get(replica) ?? 0);
  }

  /** When the lease of a process ends or ended, by the clock of the server. */
  leaseEnd(process: number): number {
    return this.#until.get(this.#newest.get(process) ?? 0) ?? 0;
  }

  opened(writer: number, replica: number): void {
    this.findings.check('ids-never-reused', !this.#writers.has(writer), () => `writer ${writer} was used before`);
    this.#writers.set(writer, replica);
    // A process that writes has read the number of its replica. A statement that enters one may arrive late, when nobody waits for the answer.
    const process = this.#replicas.get(replica) ?? 0;
    this.#newest.set(process, Math.max(replica, this.#newest.get(process) ?? 0));
  }

  buried(replica: number): void {
    this.#buried.add(replica);
  }

  claimed(replica: number, cells: readonly number[], before: readonly (number | undefined)[]): void {
    for (const [at, cell] of cells.entries()) {
      const owner = before[at];
      this.findings.check('one-owner', owner === undefined, () => `cell ${cell} was taken from replica ${owner}, which had it`);
      this.#owners.set(cell, replica);
    }
  }

  released(cells: readonly number[]): void {
    for (const cell of cells) this.#owners.delete(cell);
  }

  /** The process of a replica. */
  processOf(replica: number): number | undefined {
    return this.#replicas.get(replica);
  }

  renewed(replica: number, wasUntil: number): void {
    const now = this.now();
    this.findings.check('ids-never-reused', !this.#buried.has(replica), () => `replica ${replica} was renewed after its burial`);
    this.findings.check('ids-never-reused', wasUntil > now, () => `the lease of replica ${replica} was renewed after its end`);
    this.#until.set(replica, this.tables?.replicas.get(replica) ?? 0);
  }

  held(process: number): void {
    this.#heldCounts.set(process, this.heldCount(process) + 1);
  }

  /** How often the fence has let commits of this process pass. */
  heldCount(process: number): number {
    return this.#heldCounts.get(process) ?? 0;
  }

  committed(statement: Statement, request: CommitRequest, effect: CommitEffect): void {
    const replica = this.#writers.get(request.writer);
    const { findings } = this;
    const isBuried = replica !== undefined && this.#buried.has(replica);
    findings.check('burial-is-final', !isBuried, () => `commit ${statement.n} of replica ${replica} was written after its burial`);
    for (const cell of request.cells) {
      const owner = this.#owners.get(cell);
      findings.check('one-owner', owner === replica, () => `replica ${replica} wrote to cell ${cell} of replica ${owner}`);
    }
    findings.check('one-verdict', !this.#refused.has(statement.n), () => `commit ${statement.n} was written after it counted as lost`);
    // A change without entries may be written twice.
    if (effect.made.length > 0 || request.changed.some(({ last, was }) => last > was)) this.#written.add(statement.n);
    this.histories.add(statement.process, request, effect);
    this.#checkNames(request);
    this.#checkAliases(effect);
    for (const { n, task, config, done } of request.outbox) {
      const key = `${n} ${task} ${config}`;
      const before = this.#places.get(key) ?? 0;
      findings.check('webhook-place', done >= before, () => `queue ${n} of task ${task} moved back from ${before} to ${done}`);
      this.#places.set(key, done);
    }
  }

  /** A commit of unknown outcome got its verdict. `hasEntries` is false for a batch that may be written twice. */
  verdict(n: number, isWritten: boolean, hasEntries: boolean): void {
    if (!isWritten && hasEntries) this.#refused.add(n);
    if (!hasEntries) return;
    this.findings.check('one-verdict', this.#written.has(n) === isWritten, () => `commit ${n} counts as ${isWritten ? 'written' : 'lost'}`);
  }

  /** Returns the number of the run. */
  runStarted({ process, task, message, attempt, recovery }: RunStart): number {
    this.#runs += 1;
    const key = `${task} ${message}`;
    const before = this.#starts.get(key) ?? [];
    const history = this.histories.get(task);
    const writer = history?.messages.get(message);
    if (recovery === 'fail') {
      const isTwice = before.some((start) => start.process === writer);
      this.findings.check('one-run-writes', !isTwice, () => `task ${task}: the run of a fail agent for ${message} started twice`);
    }
    if (attempt > 1) {
      // A process that was paused after that commit may still start the run, although another one has continued the task.
      const stored = history?.attempts.get(process) ?? 0;
      this.findings.check('one-run-writes', stored >= attempt, () => `task ${task}: attempt ${attempt} starts, ${stored} is on disk`);
    }
    this.#starts.set(key, [...before, { run: this.#runs, process }]);
    return this.#runs;
  }

  /** Events that leave a process for a caller. A batch may begin with the task as it was at a position. */
  shown(id: string, events: readonly Logged[]): void {
    const history = this.histories.get(id);
    for (const { seq = 0, event } of events) {
      const known = history?.entries[seq - 1];
      if (event.task !== undefined && known !== undefined) this.shownTask(event.task);
      else {
        const isKnown = known !== undefined && known.json === JSON.stringify(event);
        this.findings.check('durable-before-shown', isKnown, () => `event ${seq} of task ${id} was shown, and is not stored`);
      }
    }
  }

  /** A task that leaves a process for a caller. */
  shownTask({ id, status, history = [] }: Task): void {
    const known = this.histories.get(id);
    const isKnown = known?.statuses.has(`${status.state} ${status.timestamp}`) === true;
    this.findings.check('durable-before-shown', isKnown, () => `task ${id} was shown as ${status.state}, which is not stored`);
    for (const { role, messageId } of history) {
      if (role !== 'ROLE_USER') continue;
      this.findings.check('durable-before-shown', known?.messages.has(messageId) === true, () => `message ${messageId} is not stored`);
    }
  }

  /** A task that is shown under the name that its caller has given it, under its own id. It has the message that was answered with it. */
  withOwnId(task: Task, message: string): Task {
    const known = [...this.histories.all()].find(({ messages }) => messages.has(message));
    this.findings.check('durable-before-shown', known !== undefined, () => `message ${message} of task ${task.id} is not stored`);
    return { ...task, id: taskId(known?.id ?? task.id) };
  }

  /** The last look: what the database holds is what it has acknowledged. */
  finish(): void {
    for (const history of this.histories.all()) {
      this.#checkStored(history);
      const isDone = history.isOver || history.entries.at(-1)?.json.includes('TASK_STATE_INPUT_REQUIRED') === true;
      this.findings.check('nobody-forgotten', isDone, () => `task ${history.id} has neither ended nor a question`);
    }
  }

  now: () => number = () => 0;

  #checkStored({ id, entries, isOver }: TaskHistory): void {
    const row = this.tables?.tasks.get(this.tables.ids.get(id) ?? 0);
    this.findings.check('log-whole', row?.last === entries.length, () => `task ${id} has ${row?.last} entries of ${entries.length}`);
    if (row === undefined) return;
    const stored = row.state >= 5;
    this.findings.check('log-whole', stored === isOver, () => `task ${id} is in state ${row.state}`);
  }

  /** The next task of a name follows one that has ended, in its conversation. The keys of one process rise. */
  #checkAliases({ made }: CommitEffect): void {
    for (const { key, realm, alias, context } of made.toSorted((one, other) => one.key - other.key)) {
      if (alias === null) continue;
      const name = `${realm} ${alias}`;
      const before = this.tables?.tasks.get(this.#aliases.get(name) ?? 0);
      this.#aliases.set(name, key);
      const follows = before === undefined || (before.state >= 5 && before.context === context);
      this.findings.check('one-name-one-task', follows, () => `${alias} has the tasks ${before?.key} and ${key}`);
    }
  }

  #checkNames({ sends }: CommitRequest): void {
    for (const { realm, name, task } of sends) {
      if (task === null) continue;
      const key = `${realm} ${name}`;
      const stored = this.tables?.sends.get(key)?.task;
      if (stored !== task) continue;
      const first = this.#names.get(key) ?? task;
      this.#names.set(key, first);
      this.findings.check('one-name-one-task', first === task, () => `${name} has the tasks ${first} and ${task}`);
      this.findings.check('one-name-one-task', this.tables?.tasks.has(task) === true, () => `${name} has no task`);
    }
  }
}
