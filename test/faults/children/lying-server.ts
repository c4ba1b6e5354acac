import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Store, Write } from '#engine';
import { createScript } from '../../../src/agents/built-in/script.ts';
import { openPostgresStore } from '../../../src/engine/adapters/postgres.ts';
import { openSqliteStore } from '../../../src/engine/adapters/sqlite.ts';
import { serve } from '../../../src/server/adapters/node.ts';

/**
 * The control of E1: a server whose store reports a commit as durable and writes it a moment later. `parley serve` can't reach this
 * code. It has the same arguments: `--data DIR` and others.
 */
const DIR = process.argv[process.argv.indexOf('--data') + 1] ?? '';
mkdirSync(DIR, { recursive: true });
const database = process.argv.includes('--store') ? process.argv[process.argv.indexOf('--store') + 1] : undefined;
const honest: Store =
  database === undefined
    ? openSqliteStore(join(DIR, 'tasks.db'), { ballastBytes: 0 })
    : await openPostgresStore(database, { leaseMs: 1000, onStandby: () => {} });

const LATER_MS = database === undefined ? 25 : 200;

let promised: Write[][] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
const keep = (): void => {
  clearTimeout(timer);
  timer = undefined;
  const batches = promised;
  promised = [];
  for (const batch of batches) void honest.commit(batch);
};
/** Readers see the promised data. The missing sync shows only when the process dies. */
const after =
  <Args extends unknown[], T>(read: (...args: Args) => T) =>
  (...args: Args): T => {
    keep();
    return read(...args);
  };

const lying: Store = {
  lastKey: after(honest.lastKey),
  task: after(honest.task),
  byAlias: after(honest.byAlias),
  waiting: after(honest.waiting),
  // The engine looks up a new send before it accepts it. The answer is always no here. A real look-up would write the promised data.
  send: () => undefined,
  directAnswers: after(honest.directAnswers),
  list: after(honest.list),
  count: after(honest.count),
  entries: after(honest.entries),
  pushConfigs: after(honest.pushConfigs),
  outbox: after(honest.outbox),
  outboxStats: after(honest.outboxStats),
  unfinished: after(honest.unfinished),
  quiet: after(honest.quiet),
  finished: after(honest.finished),
  close: after(honest.close),
  commit: (batch) => {
    promised.push(structuredClone([...batch])); // the engine reuses the arrays once the commit is reported as durable
    timer ??= setTimeout(keep, LATER_MS);
  },
};

const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
const { url } = await serve(createScript(), { port, store: lying, otel: false });
process.stdout.write(`${JSON.stringify({ event: 'ready', url, agents: ['script'] })}\n`);
