import type { Message, SendRequest } from '#protocol';
import { A2AError } from '#protocol';
import type { Naming } from './admit.ts';
import { admit } from './admit.ts';
import type { Call } from './call.ts';
import type { Core } from './core.ts';
import { hold } from './core.ts';
import type { Admitted } from './live.ts';
import type { SendName, SendRecord } from './ports.ts';

/** Where a send ended up: with a task, held, or with the direct message that was its answer. */
export type Sent = (Admitted & { readonly answer?: never }) | { readonly answer: Message };

/**
 * A send that is repeated. It attaches to the first one's task when it carries an Idempotency-Key, when the first answer never
 * reached its caller, or always if the node is so configured; otherwise a repeat is a new send. The same name with another body
 * is a mistake of the caller. An empty messageId names nothing.
 *
 * A name is reserved in memory before anything is awaited, so of any number that come at once one is admitted; its record is in
 * the commit that takes the message in, and from then on the store knows it, also after a restart.
 */
export async function sendOnce(core: Core, call: Call, naming: Naming | undefined): Promise<Sent> {
  if (naming === undefined) return admit(core, call);
  for (;;) {
    const reservation = core.reservations.get(naming.key);
    if (reservation === undefined) return first(core, call, naming);
    checkBody(reservation, naming);
    const admitted = await reservation.admitted;
    // While it is reserved the live task is at hand; afterwards the store knows where the message went.
    if (admitted !== undefined && core.reservations.get(naming.key) === reservation) {
      admitted.live.holds += 1;
      return admitted;
    }
  }
}

/** The first of its name, as far as this process knows; the store may know better. */
async function first(core: Core, call: Call, naming: Naming): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Admitted | undefined>();
  promise.catch(() => {}); // it is for repeats, and there may be none
  core.reservations.set(naming.key, { fingerprint: naming.fingerprint, admitted: promise });
  try {
    const known = await attach(core, call, naming);
    if (known !== undefined) {
      core.reservations.delete(naming.key);
      resolve(undefined);
      return known;
    }
    const admitted = await admit(core, call, naming);
    resolve(admitted); // the reservation ends with the commit of the record: endReservations
    return admitted;
  } catch (thrown) {
    core.reservations.delete(naming.key);
    reject(thrown);
    throw thrown;
  }
}

/** The records of these sends are durable. */
export function endReservations(core: Core, keys: readonly string[]): void {
  for (const key of keys) core.reservations.delete(key);
}

async function attach(core: Core, call: Call, naming: Naming): Promise<Sent | undefined> {
  for (;;) {
    const found = core.store.send(naming);
    const record = found instanceof Promise ? await found : found;
    if (record === undefined || !isRepeat(core, call, { record, key: naming.key })) return undefined;
    checkBody(record, naming);
    if (record.answer !== undefined) return { answer: record.answer };
    if (record.task === undefined) return undefined;
    // Its task is about to be replaced by a direct message, or to be forgotten: the next look tells which.
    if (core.leaving.has(record.task.id)) {
      await core.writer.settled();
      continue;
    }
    const live = await hold(core, call.owner, record.task.id);
    return live === undefined ? undefined : { live, seq: record.task.seq };
  }
}

interface Known {
  readonly record: SendRecord;
  readonly key: string;
}

function isRepeat(core: Core, call: Call, { record, key }: Known): boolean {
  return alwaysAttaches(core, call) || !(record.delivered || core.delivered.has(key));
}

function alwaysAttaches(core: Core, { ctx }: Call): boolean {
  return core.idempotency === 'messageId' || (ctx.idempotencyKey ?? '') !== '';
}

function checkBody(known: { readonly fingerprint: string }, naming: Naming): void {
  if (known.fingerprint === naming.fingerprint) return;
  throw new A2AError('INVALID_PARAMS', 'this message id, or idempotency key, was used for another message', { field: 'message.messageId' });
}

/**
 * What to do once the answer has gone out: from then on a repeat is a new send. The mark is written with the next commit that comes
 * along. If a crash is faster, a repeat attaches once more, which is harmless. Undefined: a repeat attaches in any case.
 */
export function markOf(core: Core, call: Call, naming: Naming | undefined): (() => void) | undefined {
  if (naming === undefined || alwaysAttaches(core, call)) return undefined;
  const { key, fingerprint: _, ...name } = naming;
  return () => {
    if (core.delivered.has(key)) return;
    core.delivered.add(key);
    core.writer.addLazily({ kind: 'delivered', name }, () => core.delivered.delete(key));
  };
}

export function nameOf({ request, ctx, owner, served }: Call): Naming | undefined {
  const token = tokenOf(request, ctx.idempotencyKey ?? '');
  if (token === undefined) return undefined;
  const name: SendName = { owner, agent: served.agent, token };
  return { ...name, key: JSON.stringify([owner.tenant, owner.principal, served.agent, token]), fingerprint: fingerprintOf(request) };
}

/** Two kinds of names that must not meet. */
function tokenOf(request: SendRequest, idempotencyKey: string): string | undefined {
  if (idempotencyKey !== '') return `key ${idempotencyKey}`;
  return request.message.messageId === '' ? undefined : `id ${request.message.messageId}`;
}

/** 53 bits over the message's JSON (cyrb53): enough to tell a caller its own mistake, cheap enough for every send. */
function fingerprintOf({ message, metadata, alias }: SendRequest): string {
  const text = JSON.stringify([message, metadata, alias]);
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}
