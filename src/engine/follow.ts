import type { EventStream, Logged, Seq, SubscribeRequest, Task, Traits } from '#protocol';
import { A2AError, isTerminal } from '#protocol';
import type { Core } from './core.ts';
import { agentOf, release } from './core.ts';
import type { Asked } from './find.ts';
import { find } from './find.ts';
import type { Live } from './live.ts';
import { isAtRest, nextCommit } from './live.ts';
import { nameFor, renameEvent, renameTask } from './names.ts';
import type { Entry } from './ports.ts';
import { entriesIn, foldTo } from './read.ts';

/** How one reader reads. */
export interface Reading {
  /** The snapshot is folded to here; what follows is after it. */
  readonly from: Seq;
  readonly traits: Traits;
  readonly signal: AbortSignal;
  /** A stream that answers a message ends when that has been dealt with, where its dialect says so; a subscription lasts. */
  readonly closesOnInputRequired: boolean;
  readonly trim?: (task: Task) => Task;
}

/**
 * A reader is a place in the log and a wake-up, not a queue: a snapshot folded to `from`, then every later event, as fast as it
 * takes them, until the task or the reader ends.
 */
export async function* follow(core: Core, live: Live, reading: Reading): AsyncGenerator<readonly Logged[]> {
  const { from, traits, signal, trim } = reading;
  const name = nameFor(live.row, traits);
  const snapshot = await foldTo(core, live, from);
  yield [{ seq: from, event: { task: renameTask(trim === undefined ? snapshot : trim(snapshot), name) } }];
  let after = from;
  while (!signal.aborted) {
    const page = entriesIn(core, live, { after, upTo: live.committed });
    const entries = page instanceof Promise ? await page : page;
    const last = entries.at(-1);
    if (last !== undefined) {
      after = last.seq;
      yield name === undefined ? entries : entries.map((entry): Entry => ({ ...entry, event: renameEvent(entry.event, name) }));
      continue;
    }
    if (isAtEnd(live, after, reading) || core.phase === 'off' || live.isGone) return;
    if (core.writer.broken !== undefined) throw core.writer.broken;
    await nextCommit(live, signal);
  }
}

/** A2A 1.0.1 §3.1.2 closes at the end, and the SDKs at input-required too; auth-required stays open (§7.6.1). */
function isAtEnd({ row }: Live, after: Seq, { closesOnInputRequired }: Reading): boolean {
  if (after < row.last) return false;
  return isTerminal(row.state) || (closesOnInputRequired && row.state === 'TASK_STATE_INPUT_REQUIRED');
}

/**
 * From the task as it is, or from any earlier place in its log: what was seen up to there is the snapshot, and nothing after it is
 * missing or said twice. That goes for finished tasks too; without a place to go on from they are refused, where a dialect has it so.
 */
export async function* subscribe(
  core: Core,
  asked: Asked & { readonly request: SubscribeRequest },
): EventStream & AsyncGenerator<readonly Logged[]> {
  const { request, ctx, served } = asked;
  checkStreaming(core, served.agent);
  const traits = core.traitsOf(ctx.dialect);
  const live = await find(core, asked);
  try {
    const { after } = request;
    const from = after !== undefined && Number.isInteger(after) && after >= 1 && after <= live.committed ? after : undefined;
    if (from === undefined && isAtRest(live) && traits.subscribeFinished === 'error') {
      throw new A2AError('UNSUPPORTED_OPERATION', `task ${request.id} is finished: there is nothing to wait for`);
    }
    yield* follow(core, live, { from: from ?? live.committed, traits, signal: ctx.signal, closesOnInputRequired: false });
  } finally {
    release(core, live);
  }
}

/** A2A 1.0.1 §3.3.4: an agent whose card does not promise streaming has none. */
export function checkStreaming(core: Core, agent: string): void {
  if (agentOf(core, agent).card.capabilities.streaming !== true) throw new A2AError('STREAMING_NOT_SUPPORTED');
}
