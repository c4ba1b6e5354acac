import type { Message, Mutable, Seq, TaskEvent, TaskState } from '#protocol';
import { isInterrupted, isTerminal, NO_EVENT, seqAfter } from '#protocol';
import { ElsewhereError } from '../cells.ts';
import type { Saveable } from '../commit/batch.ts';
import type { TakenNames } from '../commit/outcome.ts';
import type { LogEntry, SendRecord, TaskKey, TaskRow, Write } from '../ports.ts';
import type { AgentRun } from '../turns/agent-run.ts';
import type { EntryNotes, StatusDetails } from './events.ts';
import { checkTransition, sizeOf, stateAfter, statusEvent, statusTime } from './events.ts';
import type { LiveTask, Sender } from './live-task.ts';
import { LogTail } from './log-tail.ts';
import { checkRoom } from './room.ts';
import type { TaskParts } from './task-parts.ts';
import type { Unsaved } from './unsaved.ts';
import { isTaken, NOTHING, newUnsaved, rejoin } from './unsaved.ts';
import { wakeAll } from './wake-all.ts';

const NO_SENDERS: readonly Mutable<Sender>[] = [];

/** The one implementation of `LiveTask`. Its fields are public for speed; other files see the read-only interface. */
export class TaskInMemory implements LiveTask, Saveable {
  readonly row: Mutable<TaskRow>;
  committed: Seq;
  announced: boolean;
  isGone = false;
  isWithdrawn = false;
  lostCell: number | undefined = undefined;
  direct: Message | undefined = undefined;
  isDirectSaved = false;
  saving: Unsaved = NOTHING;
  pending: Unsaved = NOTHING;
  run: AgentRun | undefined = undefined;
  origin: LiveTask['origin'] = undefined;
  readonly #parts: TaskParts;
  /** Not in the store yet. */
  #isNew: boolean;
  /** Part of the next commit. */
  #isDirty = false;
  readonly #tail: LogTail;
  /** The task that had the alias before. */
  readonly #follows: TaskKey | undefined;
  /** The record of the send that made the task. */
  #record: SendRecord | undefined = undefined;
  #wakes: Set<() => void> | undefined = undefined;
  senders: readonly Mutable<Sender>[] = NO_SENDERS;
  /** Requests and readers that use the task. */
  #holds = 1;

  constructor(parts: TaskParts, row: TaskRow, { isNew, follows }: { readonly isNew: boolean; readonly follows?: TaskKey | undefined }) {
    this.#parts = parts;
    this.#tail = new LogTail(parts.limits);
    this.#follows = follows;
    this.row = { ...row };
    this.#isNew = isNew;
    this.committed = isNew ? NO_EVENT : row.last;
    this.announced = !isNew;
  }

  append(event: TaskEvent, notes?: EntryNotes): LogEntry {
    this.checkHere();
    const { row } = this;
    const state = stateAfter(event, row.state);
    if (row.last > 0) checkTransition(row.state, state, event);
    const bytes = sizeOf(event, notes);
    // A terminal state is always accepted: the limits must not keep a task from ending.
    if (!isTerminal(state)) checkRoom(this.#parts, row, bytes);
    const seq = seqAfter(row.last);
    const entry: LogEntry = notes === undefined ? { seq, event } : { seq, event, ...notes };
    row.last = seq;
    row.bytes += bytes;
    const pending = this.#gathering();
    pending.entries.push(entry);
    pending.bytes += bytes;
    if (event.artifactUpdate === undefined) {
      row.state = state;
      row.statusAt = statusTime(event, this.#parts.clock.now());
      this.#settleSenders(seq);
    }
    this.touch();
    return entry;
  }

  appendStatus(state: TaskState, details?: StatusDetails, notes?: EntryNotes): LogEntry {
    return this.append(statusEvent(this.row, { ...details, state, timestamp: this.#parts.clock.now().iso }), notes);
  }

  writeBeside(...writes: readonly Write[]): void {
    this.#gathering().beside.push(...writes);
  }

  recordSend(record: SendRecord, key: string): void {
    const pending = this.#gathering();
    pending.beside.push({ kind: 'send', record });
    pending.reserved.push(key);
    if (record.task?.seq === 1) this.#record = record;
  }

  addBytes(bytes: number): void {
    this.row.bytes += bytes;
  }

  beginTurn(seq: Seq): void {
    this.row.turn = seq;
    this.row.attempt = 0;
  }

  setAttempt(attempt: number): void {
    this.row.attempt = attempt;
  }

  setRun(run: AgentRun | undefined, origin: LiveTask['origin'] = this.origin): void {
    this.run = run;
    this.origin = origin;
  }

  touch(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    this.#parts.commits.enqueue(this);
  }

  announce(): void {
    this.announced = true;
  }

  replaceBy(direct: Message): boolean {
    const { row } = this;
    const mayBeStored = !this.#isNew || this.saving !== NOTHING;
    this.pending = { ...newUnsaved(), reserved: [...this.pending.reserved], hasDirect: true };
    if (mayBeStored) this.pending.beside.push({ kind: 'forget', task: row.key });
    if (this.#record !== undefined) {
      const { task: _, ...rest } = this.#record;
      this.pending.beside.push({ kind: 'send', record: { ...rest, answer: direct }, was: row.key });
    }
    this.direct = direct;
    this.isGone = true;
    return mayBeStored;
  }

  discard(): void {
    this.isGone = true;
    this.wake();
  }

  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    this.dropIfIdle();
  }

  get isHeld(): boolean {
    return this.#holds > 0 || this.#isDirty || this.saving !== NOTHING;
  }

  dropIfIdle(): void {
    if (this.isHeld || this.run !== undefined) return;
    this.#parts.onIdle(this);
  }

  nextCommit(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal === undefined) return void this.onCommit(resolve);
      const wake = (): void => {
        this.offCommit(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.onCommit(wake);
      if (signal.aborted) wake();
      else signal.addEventListener('abort', wake, { once: true });
    });
  }

  async durable(seq: Seq): Promise<void> {
    while (this.committed < seq) {
      this.checkHere();
      this.#parts.commits.check();
      await this.nextCommit();
    }
  }

  onCommit(wake: () => void): void {
    this.#wakes ??= new Set();
    this.#wakes.add(wake);
  }

  offCommit(wake: () => void): void {
    this.#wakes?.delete(wake);
  }

  wake(): void {
    const wakes = this.#wakes;
    this.#wakes = undefined;
    if (wakes !== undefined) wakeAll(wakes, this.#parts.timers);
  }

  addSender(seq: Seq): Sender {
    const sender = { seq, settledAt: this.#isSettled(seq) ? this.row.last : undefined };
    this.senders = this.senders.length === 0 ? [sender] : [...this.senders, sender];
    return sender;
  }

  removeSender(sender: Sender): void {
    this.senders = this.senders.length === 1 ? NO_SENDERS : this.senders.filter((each) => each !== sender);
  }

  get tail(): readonly LogEntry[] {
    return this.#tail.entries;
  }

  recent(after: Seq, count: number): readonly LogEntry[] | undefined {
    return this.#tail.page(after, count);
  }

  writeTo(batch: Write[]): void {
    this.#isDirty = false;
    if (this.lostCell !== undefined) return;
    this.saving = this.pending;
    this.pending = NOTHING;
    const { entries, beside } = this.saving;
    if (!this.isGone) batch.push(this.#rowWrite(entries));
    for (const write of beside) batch.push(write);
  }

  saved(taken?: TakenNames): void {
    const { saving } = this;
    if (taken !== undefined && isTaken(this.row.key, this.saving, taken)) {
      this.isWithdrawn = true;
      this.#drop();
      return;
    }
    this.saving = NOTHING;
    this.#isNew = false;
    if (saving.hasDirect) this.isDirectSaved = true;
    const last = saving.entries.at(-1);
    if (last !== undefined) {
      this.committed = last.seq;
      this.#tail.add(saving);
    }
    this.wake();
    this.#parts.onSaved(this, saving);
    this.dropIfIdle();
  }

  lose(cell: number): void {
    if (this.lostCell !== undefined) return;
    this.lostCell = cell;
    this.#drop();
  }

  checkHere(): void {
    if (this.lostCell !== undefined) throw new ElsewhereError(this.lostCell);
  }

  notSaved(): boolean {
    if (this.lostCell !== undefined) return false;
    this.pending = rejoin(this.saving, this.pending, this.isGone);
    this.saving = NOTHING;
    const wasDirty = this.#isDirty;
    this.#isDirty = true;
    return !wasDirty;
  }

  #rowWrite(entries: readonly LogEntry[]): Write {
    const write = { kind: 'task', row: { ...this.row }, isNew: this.#isNew, entries } as const;
    return this.#isNew && this.#follows !== undefined ? { ...write, follows: this.#follows } : write;
  }

  #drop(): void {
    const unsaved = rejoin(this.saving, this.pending, false);
    [this.saving, this.pending, this.isGone] = [NOTHING, NOTHING, true];
    this.#parts.onDropped(this, unsaved);
    this.wake();
  }

  #gathering(): Unsaved {
    if (this.pending === NOTHING) this.pending = newUnsaved();
    return this.pending;
  }

  /** Calls get the task as it is at the state that answers their message, even if it changes before they read it. */
  #settleSenders(seq: Seq): void {
    const isEnd = isTerminal(this.row.state);
    if (!isEnd && !isInterrupted(this.row.state)) return;
    for (const sender of this.senders) {
      if (sender.settledAt === undefined && (isEnd || !this.#isQueued(sender.seq))) sender.settledAt = seq;
    }
  }

  #isSettled(seq: Seq): boolean {
    return isTerminal(this.row.state) || (isInterrupted(this.row.state) && !this.#isQueued(seq));
  }

  #isQueued(seq: Seq): boolean {
    return this.run?.queue.some((input) => input.seq === seq) ?? false;
  }
}
