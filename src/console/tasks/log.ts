import { signal } from '@preact/signals';
import type { AdminEvent, AdminTask, AdminWholeTask, Logged, Task, TaskEvent } from '#protocol';
import { eventKind, getTextFromMessage, isTerminal, isTextPart, partKind, startFold } from '#protocol';
import { ApiError, admin, wordsFor } from '../api.ts';
import { stateWord } from '../ui/basic.tsx';
import { timeOf } from './spans.ts';

const WAIT_MS = 20_000;

/** Reads the log of one task and follows new events. */
export class TaskLog {
  readonly about = signal<AdminWholeTask | undefined>(undefined);
  readonly events = signal<readonly AdminEvent[]>([]);
  readonly problem = signal('');
  readonly isGone = signal(false);
  readonly id: string;
  readonly #leaving = new AbortController();

  constructor(id: string) {
    this.id = id;
  }

  /** All events that the task is known to have are here. */
  get isWhole(): boolean {
    return (this.events.value.at(-1)?.seq ?? 0) >= (this.about.value?.last ?? 0);
  }

  close(): void {
    this.#leaving.abort();
  }

  async follow(): Promise<void> {
    const { signal: left } = this.#leaving;
    while (!left.aborted) {
      try {
        if (await this.#readOn(left)) return;
      } catch (thrown) {
        if (left.aborted) return;
        this.isGone.value = thrown instanceof ApiError && thrown.status === 404;
        this.problem.value = wordsFor(thrown);
        if (this.isGone.value) return;
        await new Promise((resolve) => setTimeout(resolve, 2000));
      }
    }
  }

  /** Reads more events. True: the task has ended, and all of them are read. */
  async #readOn(signal: AbortSignal): Promise<boolean> {
    const after = this.events.value.at(-1)?.seq ?? 0;
    const known = this.about.value;
    // The task itself is read again only when all known events are: it contains everything.
    const about = known !== undefined && after < known.last ? known : await admin.task(this.id);
    this.about.value = about;
    this.problem.value = '';
    const isEnd = after >= about.last;
    if (isEnd && isTerminal(about.state)) return true;
    const more = await admin.events(this.id, after, { signal, ...(isEnd ? { waitMs: WAIT_MS } : {}) });
    if (more.length > 0) this.events.value = [...this.events.value, ...more];
    return false;
  }

  async again(): Promise<void> {
    this.about.value = await admin.task(this.id);
    void this.follow();
  }
}

/** The task after this many events. */
export function taskAt(events: readonly AdminEvent[], count: number): Task | undefined {
  if (count === 0 || events[0]?.event.task === undefined) return undefined;
  const fold = startFold();
  for (let at = 0; at < count; at += 1) {
    const logged = events[at];
    if (logged !== undefined) fold.add(logged.event, logged.input);
  }
  return fold.task();
}

const PART_WORDS: Readonly<Record<string, string>> = { raw: 'file', url: 'link' };

/** One event as a line of text. */
export function lineOf(event: TaskEvent): { readonly kind: string; readonly text: string } {
  switch (eventKind(event)) {
    case 'task':
      return { kind: 'task', text: `created, ${stateWord(event.task?.status.state ?? '')}` };
    case 'message':
      return { kind: 'message', text: event.message === undefined ? '' : getTextFromMessage(event.message) };
    case 'statusUpdate': {
      const { state, message } = event.statusUpdate?.status ?? { state: '', message: undefined };
      return { kind: 'status', text: `${stateWord(state)}${message === undefined ? '' : ` · ${getTextFromMessage(message)}`}` };
    }
    case 'artifactUpdate': {
      const { artifact, append } = event.artifactUpdate ?? {};
      const parts = (artifact?.parts ?? []).map((part) =>
        isTextPart(part) ? `“${part.text.slice(0, 120).replaceAll(/\s+/g, ' ').trim()}”` : (PART_WORDS[partKind(part)] ?? partKind(part)),
      );
      return { kind: append === true ? 'chunk' : 'artifact', text: `${artifact?.name ?? artifact?.artifactId ?? ''} ${parts.join(', ')}` };
    }
  }
}

/** How long the task took, or has taken so far. Undefined until the first event is known. */
export function durationMs(events: readonly Logged[], { state, statusAt }: Pick<AdminTask, 'state' | 'statusAt'>): number | undefined {
  const first = events[0] === undefined ? undefined : timeOf(events[0].event);
  const until = isTerminal(state) ? Date.parse(statusAt) : Date.now();
  return first === undefined ? undefined : Math.max(0, until - Date.parse(first));
}

/** The usage that a run reports: tokens, turns, cost. */
export function costOf(task: Task): readonly (readonly [string, string])[] {
  for (const { parts } of task.artifacts ?? []) {
    for (const part of parts) {
      const data = 'data' in part ? part.data : undefined;
      const stats = typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as { stats?: unknown }).stats : undefined;
      if (typeof stats === 'object' && stats !== null) return Object.entries(stats).map(([name, value]) => [name, String(value)]);
    }
  }
  return [];
}
