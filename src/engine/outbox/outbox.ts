import type { Seq } from '#protocol';
import { isTerminal, pushConfigId } from '#protocol';
import type { OutboxEntry, OutboxRow, TaskRow, Write } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import type { Lane, ReplyTo } from './lane.ts';
import { newLane, progressOf } from './lane.ts';
import type { Lanes, OpeningReplies } from './lanes.ts';
import { createLanes, createOpening } from './lanes.ts';
import { REPLY_ID, replyIn, replyUrl } from './replies.ts';
import type { Exits, Ways } from './ways.ts';
import { NO_WAYS, openWays, wayOf } from './ways.ts';
import type { Outbox } from './webhooks.ts';

export interface OutboxOptions extends Exits {
  /** The engine's parts, which are there once it is put together. */
  readonly coreOf: () => Core;
}

const PAGE = 1000;

export function createOutbox(options: OutboxOptions): Outbox {
  const { courier, carrier, vault, coreOf } = options;
  const lanes = createLanes();
  const opening = createOpening();
  let lastNumber = 0;
  const nextNumber = (): number => {
    lastNumber += 1;
    return lastNumber;
  };
  const newReply = ({ task, reply, asked }: Asked): readonly Write[] => {
    const core = coreOf();
    const n = nextNumber();
    opening.add(n, { task: task.key, reply });
    const id = pushConfigId(`${REPLY_ID}${core.ids.next()}`);
    const done = (asked - 1) as Seq; // that the message was taken in is the first that its sender hears
    const push = { config: { id, url: replyUrl(reply) }, dialect: reply.dialect, after: done };
    const row = { n, done, task: task.key, config: id, state: 'open', attempts: 0, dueAt: core.now().ms } as const;
    return [
      { kind: 'push', task: task.key, push },
      { kind: 'outbox', row },
    ];
  };
  let ways: Ways = NO_WAYS;
  const wake = (lane: Lane): void => wayOf(ways, lane)?.wake(lane);
  return {
    courier,
    carrier,
    vault,
    opening: (task, config, after) => {
      const known = lanes.mainOf(task.key, config)?.row;
      if (known === undefined && isTerminal(task.state)) return undefined;
      const dueAt = coreOf().now().ms;
      // What has not arrived at the old address goes to the new one.
      const place = known === undefined ? { n: nextNumber(), done: after } : { n: known.n, done: known.done };
      return { kind: 'outbox', row: { ...place, task: task.key, config, state: 'open', attempts: 0, dueAt } };
    },
    replying: (task, reply, asked) => (isReplying(lanes, opening, { task, reply, asked }) ? [] : newReply({ task, reply, asked })),
    hasReply: (task) => opening.hasAny(task) || lanes.of(task).some(({ reply }) => reply !== undefined),
    recall: async (row) => {
      const reply = await replyOf(coreOf(), row);
      if (reply !== undefined) opening.add(row.n, { task: row.task, reply });
    },
    openOf: lanes.openOf,
    ...following(lanes, opening, () => ways),
    current: lanes.byNumber,
    start: async () => {
      const core = coreOf();
      ({ last: lastNumber } = await core.store.outboxStats());
      if (courier === undefined && carrier === undefined) return;
      ways = openWays(options, { core, nextNumber, onClosed: lanes.remove });
      for await (const { row, task } of openEntries(core)) {
        const reply = row.config.startsWith(REPLY_ID) ? await replyOf(core, row) : undefined;
        const lane = newLane({ row, task, progress: progressOf(task), reply });
        if (wayOf(ways, lane) !== undefined) wake(lanes.add(lane));
      }
    },
    stop: async (ms) => ways.webhooks?.stop(ms),
    stopReplies: async (ms) => {
      await ways.replies?.stop(ms);
      ways.rows?.flush();
    },
    get carrying() {
      return ways.replies?.carrying ?? 0;
    },
    stats: () => ({
      pending: lanes.pending(),
      ...(ways.webhooks?.stats ?? { sending: 0, tripped: 0, letters: 0 }),
    }),
  };
}

/** What happens to tasks, and so to their queues. */
function following(
  lanes: Lanes,
  opening: OpeningReplies,
  waysOf: () => Ways,
): Pick<Outbox, 'opened' | 'watches' | 'committed' | 'dropped'> {
  const wake = (lane: Lane): void => wayOf(waysOf(), lane)?.wake(lane);
  return {
    opened: (row, task, progress) => {
      const known = lanes.of(task.key).find((lane) => lane.row.n === row.n);
      if (known === undefined) wake(lanes.add(newLane({ row, task, progress, reply: opening.take(row.n) })));
      else waysOf().webhooks?.renew(known);
    },
    watches: (task) => lanes.of(task).length > 0,
    committed: (task, progress) => {
      for (const lane of lanes.of(task)) {
        lane.progress = progress;
        wake(lane);
      }
    },
    dropped: (task, config) => {
      for (const lane of lanes.of(task)) {
        if (config !== undefined && lane.row.config !== config) continue;
        wayOf(waysOf(), lane)?.close(lane);
        lanes.remove(lane);
      }
    },
  };
}

interface Asked {
  readonly task: TaskRow;
  readonly reply: ReplyTo;
  readonly asked: Seq;
}

/** The queue that is there answers this message too, and stays until it has. */
function isReplying(lanes: Lanes, opening: OpeningReplies, { task, reply, asked }: Asked): boolean {
  const known = lanes.of(task.key).find((lane) => lane.reply?.to === reply.to && lane.phase !== 'closed');
  if (known !== undefined) {
    known.asked = asked;
    // Whoever repeats may have heard none of what is under way.
    if (known.phase === 'sending' && known.joined === asked) known.rewind = Math.min(known.rewind ?? asked, asked - 1) as Seq;
    known.joined = asked;
  }
  return known !== undefined || opening.has(task.key, reply);
}

async function* openEntries(core: Core): AsyncGenerator<OutboxEntry> {
  for (let after = 0; ; ) {
    const page = await core.store.outbox({ state: 'open', after, limit: PAGE });
    yield* page;
    after = page.at(-1)?.row.n ?? after;
    if (page.length < PAGE) return;
  }
}

async function replyOf(core: Core, { task, config }: OutboxRow): Promise<ReplyTo | undefined> {
  const push = (await core.store.pushConfigs(task)).find((each) => each.config.id === config);
  return push === undefined ? undefined : replyIn(push);
}
