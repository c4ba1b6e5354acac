import type { Task } from '#protocol';
import { eventually } from '../../support/eventually.ts';
import type { Receiver } from '../../support/receiver.ts';
import { getTask, logOf, textOf } from '../client.ts';
import type { Ledger } from '../ledger.ts';
import { verifyAll } from '../verify.ts';
import { foundByAudit, operate } from './audit.ts';
import type { Fleet } from './fleet.ts';
import { callersWebhook } from './webhook.ts';

/** A finished task as a caller has received it. It stays so for ever. */
export interface Fact {
  readonly id: string;
  readonly state: string;
  readonly text: string;
}

/** What callers have received, kept outside of the nodes. */
export class Journal {
  /** Every event, snapshot and answer of 1.0 over HTTP+JSON. */
  readonly ledger: Ledger = new Map();
  /** Final answers in any dialect. */
  readonly facts: Fact[] = [];
  /** Tasks with a webhook. */
  readonly hooked: Set<string> = new Set();
  /** What a caller saw that must not happen. */
  readonly broken: string[] = [];
  /** Finished jobs by kind. */
  readonly done: Map<string, number> = new Map();
  /** Attempts that a caller had to repeat, by reason. */
  readonly refused: Map<string, number> = new Map();
  requests = 0;

  finished(kind: string): void {
    this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
  }

  refuse(reason: string): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
  }

  /** Jobs that are done. */
  get jobs(): number {
    return sum(this.done);
  }

  /** Attempts that a caller had to repeat. */
  get failures(): number {
    return sum(this.refused);
  }

  /** One line for the output of `npm run faults`. */
  line(): string {
    const list = (counts: ReadonlyMap<string, number>): string => [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
    return `${this.requests} requests, ${this.jobs} jobs (${list(this.done)}), ${this.failures} repeated (${list(this.refused)})`;
  }
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}

/** Writes a line that `npm run faults` shows. */
export function note(text: string): void {
  process.stdout.write(`${text}\n`);
}

const SHOWN_MAX = 12;
const UNFINISHED = 'SELECT id AS what FROM parley.tasks WHERE state < 3';

/** Everything that contradicts the promises: an empty list if all of them hold. Callers must have ended. */
export async function violations(fleet: Fleet, journal: Journal): Promise<readonly string[]> {
  const url = await fleet.readyUrl();
  const found: string[] = [];
  // A control may leave tasks that nobody finishes.
  const waited = await eventually(async () => (await operate(fleet.database, UNFINISHED)).length === 0, 20_000).catch(() => undefined);
  if (waited === undefined) found.push(`forgotten: ${JSON.stringify(await operate(fleet.database, UNFINISHED)).slice(0, 300)}`);
  const { lost, gaps, doubled, wrong, details } = await verifyAll(url, journal.ledger);
  if (lost + gaps + doubled + wrong > 0)
    found.push(`lost: ${lost} facts, ${gaps} gaps, ${doubled} doubled, ${wrong} wrong: ${details.join('; ')}`);
  for (const fact of journal.facts) {
    const task: Task | undefined = await getTask(url, fact.id).catch(() => undefined);
    const now = task === undefined ? 'nothing' : `${task.status.state} ${textOf(task)}`;
    if (now !== `${fact.state} ${fact.text}`) found.push(`lost: ${fact.id} was ${fact.state} ${fact.text}, and is ${now}`);
  }
  if (journal.hooked.size > 0) found.push(...(await missedBy(await callersWebhook(), url, journal)));
  found.push(...(await foundByAudit(fleet.database)), ...journal.broken);
  return found.length > SHOWN_MAX ? [...found.slice(0, SHOWN_MAX), `… ${found.length} in all`] : found;
}

/** Events of hooked tasks that the webhook never got. Deliveries that were under way are awaited. */
async function missedBy(hook: Receiver, url: string, journal: Journal): Promise<readonly string[]> {
  const logs = new Map<string, number>();
  for (const id of journal.hooked) logs.set(id, (await logOf(url, id))?.length ?? 0);
  const missing = (): readonly string[] => {
    const heard = new Set<string>();
    for (const { headers } of hook.hits) {
      const [, task = '', seq = ''] = /^msg_(.+)_[0-9a-f]{8}_(\d+)$/.exec(String(headers['webhook-id'])) ?? [];
      heard.add(`${task} ${seq}`);
    }
    const wanted = [...logs].flatMap(([id, last]) => Array.from({ length: Math.max(last - 1, 0) }, (_, at) => `${id} ${at + 2}`));
    return wanted.filter((each) => !heard.has(each));
  };
  await eventually(() => missing().length === 0, 30_000).catch(() => undefined);
  return missing().map((each) => `lost: the webhook never got ${each}`);
}
