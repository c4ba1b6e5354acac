import type { Message, Seq } from '#protocol';
import { A2AError } from '#protocol';
import type { Entry } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import type { Input, Live } from '../tasks/live-task.ts';

/** What the log knows of a turn that was cut off. */
export interface Past {
  readonly input: Input;
  /** Messages that came while it ran and wait for turns of their own. */
  readonly queued: readonly Input[];
  /** Questions it asked without ending, and what was answered. */
  readonly answers: readonly Answered[];
}

export interface Answered {
  readonly question: Message;
  readonly answer: Message;
}

const PAGE = 512;

export async function readPast(core: Core, live: Live): Promise<Past> {
  const { key, turn, owner } = live.row;
  const queued: Input[] = [];
  const answers: Answered[] = [];
  let input: Input | undefined;
  let question: Message | undefined;
  for await (const entry of wordsFrom(core, live, turn)) {
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

/** What the task asks its caller at the moment, if it does. */
export async function questionOf(core: Core, live: Live): Promise<Message | undefined> {
  let question: Message | undefined;
  for await (const entry of wordsFrom(core, live, live.row.turn)) question = questionAfter(entry, question);
  return question;
}

/** Who sent it is known, what it was allowed is not: a turn that is repeated has no scopes. */
function inputOf({ seq, event, input, modes = [] }: Entry, principal: string): Input | undefined {
  const message = input ?? event.task?.history?.at(-1);
  return message === undefined ? undefined : { seq, message, modes, principal: { id: principal, scopes: [] } };
}

function questionAfter({ event }: Entry, before: Message | undefined): Message | undefined {
  const status = event.statusUpdate?.status;
  if (status === undefined) return before;
  return status.state === 'TASK_STATE_INPUT_REQUIRED' ? status.message : undefined;
}

/** Durable or not. */
async function* wordsFrom(core: Core, live: Live, from: Seq): AsyncGenerator<Entry> {
  let after = (from - 1) as Seq;
  while (after < live.committed) {
    const upTo = live.committed;
    const entries = await core.store.entries(live.row.key, { after, limit: PAGE, only: 'words' });
    for (const entry of entries) if (entry.seq <= upTo) yield entry;
    // A short page was the last up to there; what became durable meanwhile is for the next look.
    after = entries.length < PAGE ? upTo : (Math.min(upTo, entries.at(-1)?.seq ?? upTo) as Seq);
  }
  for (const entry of [...live.saving.entries, ...live.pending.entries]) if (entry.seq > after) yield entry;
}

export function isSameQuestion(left: Message, right: Message): boolean {
  return JSON.stringify(left.parts) === JSON.stringify(right.parts);
}
