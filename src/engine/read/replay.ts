import type { Message, Seq } from '#protocol';
import { A2AError, seq, seqBefore } from '#protocol';
import type { LogEntry, Store } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { TurnInput } from '../turns/agent-run.ts';

/** What the log says about a turn that was interrupted. */
export interface InterruptedTurn {
  readonly input: TurnInput;
  /** Messages that arrived during the turn and wait for turns of their own. */
  readonly queued: readonly TurnInput[];
  /** Questions that the agent asked during the turn, and their answers. */
  readonly answers: readonly AnsweredQuestion[];
}

/** A question of the interrupted run, with its answer. */
export interface AnsweredQuestion {
  readonly question: Message;
  readonly answer: Message;
}

interface ReplayParts {
  readonly store: Pick<Store, 'entries'>;
}

const PAGE = 512;

/** Reads an interrupted turn from the log, for its next attempt. */
export async function readTurn(parts: ReplayParts, task: LiveTask): Promise<InterruptedTurn> {
  const { key, turn, owner } = task.row;
  const queued: TurnInput[] = [];
  const answers: AnsweredQuestion[] = [];
  let input: TurnInput | undefined;
  let question: Message | undefined;
  for await (const entry of wordsFrom(parts, task, turn)) {
    const taken = inputOf(entry, owner.principal);
    if (entry.seq === turn) input = taken;
    else if (taken !== undefined && entry.queued === true) queued.push(taken);
    else if (taken !== undefined && question !== undefined) answers.push({ question, answer: taken.message });
    question = questionAfter(entry, question);
  }
  if (input === undefined) {
    throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`no message at ${turn} in task ${key}`) });
  }
  return { input, queued, answers };
}

/** The log has the sender's id but not its scopes: a repeated turn has none. */
function inputOf({ seq, event, input, modes = [] }: LogEntry, principal: string): TurnInput | undefined {
  const message = input ?? event.task?.history?.at(-1);
  return message === undefined ? undefined : { seq, message, modes, principal: { id: principal, scopes: [] } };
}

function questionAfter({ event }: LogEntry, before: Message | undefined): Message | undefined {
  const status = event.statusUpdate?.status;
  if (status === undefined) return before;
  return status.state === 'TASK_STATE_INPUT_REQUIRED' ? status.message : undefined;
}

/** All entries but artifact updates, durable or not. */
async function* wordsFrom({ store }: ReplayParts, task: LiveTask, from: Seq): AsyncGenerator<LogEntry> {
  let after = seqBefore(from);
  while (after < task.committed) {
    const upTo = task.committed;
    const entries = await store.entries(task.row.key, { after, limit: PAGE, only: 'words' });
    for (const entry of entries) if (entry.seq <= upTo) yield entry;
    // A short page was the last one up to there. Entries that became durable meanwhile come in the next round.
    after = entries.length < PAGE ? upTo : seq(Math.min(upTo, entries.at(-1)?.seq ?? upTo));
  }
  for (const entry of [...task.saving.entries, ...task.pending.entries]) if (entry.seq > after) yield entry;
}

/**
 * Whether a repeated run asks the question that was answered before. Ids differ between runs, so
 * contents are compared.
 */
export function isSameQuestion(left: Message, right: Message): boolean {
  return JSON.stringify(left.parts) === JSON.stringify(right.parts);
}
