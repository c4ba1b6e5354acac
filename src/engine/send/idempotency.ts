import type { Message, SendRequest } from '#protocol';
import { A2AError } from '#protocol';
import type { MaybePromise, SendName, SendRecord } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { hold, scopedKey } from '../tasks/core.ts';
import type { Admitted, Reservation } from '../tasks/live-task.ts';
import type { Naming } from './admit.ts';
import { admit } from './admit.ts';
import type { Call } from './call.ts';

/** Where a send ended up: with a task, held, or with the direct message that was its answer. */
export type Sent = (Admitted & { readonly answer?: never }) | { readonly answer: Message };

/**
 * A send that is repeated. It attaches to the first one's task when it carries an Idempotency-Key, when the first answer never
 * reached its caller, or always if the node is so configured; otherwise a repeat is a new send. The same name with another body
 * is a mistake of the caller. An empty messageId names nothing.
 *
 * A name is reserved in memory before anything is awaited, so of any number that come at once one is admitted; its record is in
 * the commit that takes the message in. With that commit the reservation ends: from then on the store knows, also after a restart.
 */
export function sendOnce(core: Core, call: Call, naming: Naming | undefined): MaybePromise<Sent> {
  if (naming === undefined) return admit(core, call);
  const reservation = core.reservations.get(naming.key);
  return reservation === undefined ? first(core, call, naming) : join(core, call, { naming, reservation });
}

/** The first of its name, as far as this process knows; the store may know better. Over a quick store nothing is awaited. */
function first(core: Core, call: Call, naming: Naming): MaybePromise<Sent> {
  const known = attach(core, call, naming);
  if (known instanceof Promise) return firstLater(core, call, { naming, known });
  if (known !== undefined) return known;
  const admitted = admit(core, call, naming);
  if (admitted instanceof Promise) return firstLater(core, call, { naming, admitted });
  core.reservations.set(naming.key, { fingerprint: naming.fingerprint, admitted });
  return admitted;
}

interface Later {
  readonly naming: Naming;
  readonly known?: Promise<Sent | undefined>;
  readonly admitted?: Promise<Admitted>;
}

async function firstLater(core: Core, call: Call, later: Later): Promise<Sent> {
  const { naming } = later;
  const { promise, resolve, reject } = Promise.withResolvers<Admitted | undefined>();
  promise.catch(() => {}); // it is for repeats, and there may be none
  core.reservations.set(naming.key, { fingerprint: naming.fingerprint, admitted: promise });
  try {
    const known = await later.known;
    if (known !== undefined) {
      core.reservations.delete(naming.key);
      resolve(undefined);
      return known;
    }
    const admitted = await (later.admitted ?? admit(core, call, naming));
    resolve(admitted);
    return admitted;
  } catch (thrown) {
    core.reservations.delete(naming.key);
    reject(thrown);
    throw thrown;
  }
}

interface Joining {
  readonly naming: Naming;
  readonly reservation: Reservation;
}

async function join(core: Core, call: Call, { naming, reservation }: Joining): Promise<Sent> {
  checkBody(reservation, naming);
  const admitted = await reservation.admitted;
  // While it is reserved the live task is at hand; afterwards the store knows where the message went.
  if (admitted === undefined || core.reservations.get(naming.key) !== reservation) return sendOnce(core, call, naming);
  admitted.live.holds += 1;
  return admitted;
}

/** The records of these sends are durable. */
export function endReservations(core: Core, keys: readonly string[]): void {
  for (const key of keys) core.reservations.delete(key);
}

function attach(core: Core, call: Call, naming: Naming): MaybePromise<Sent | undefined> {
  const found = core.store.send(naming);
  if (found instanceof Promise) return found.then((record) => attachTo(core, call, { naming, record }));
  return found === undefined ? undefined : attachTo(core, call, { naming, record: found });
}

interface Attaching {
  readonly naming: Naming;
  readonly record: SendRecord | undefined;
}

async function attachTo(core: Core, call: Call, { naming, record }: Attaching): Promise<Sent | undefined> {
  if (record === undefined || !isRepeat(core, call, { record, key: naming.key })) return undefined;
  checkBody(record, naming);
  if (record.answer !== undefined) return { answer: record.answer };
  if (record.task === undefined) return undefined;
  // Its task is about to be replaced by a direct message, or to be forgotten: the next look tells which.
  if (core.leaving.has(record.task.id)) {
    await core.writer.settled();
    return attach(core, call, naming);
  }
  const live = await hold(core, call.owner, record.task.id);
  return live === undefined ? undefined : { live, seq: record.task.seq };
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

export function nameOf(core: Core, call: Call): Naming | undefined {
  const { owner, served, request } = call;
  const token = tokenOf(call);
  if (token === undefined || (served.repeatsAnew && !alwaysAttaches(core, call))) return undefined;
  const name: SendName = { owner, agent: served.agent, token };
  return { ...name, key: scopedKey(owner, served.agent, token), fingerprint: fingerprintOf(request) };
}

/** Two kinds of names that must not meet. A message id that was made up when the message was read never comes again, and is none. */
function tokenOf({ request, ctx, traits }: Call): string | undefined {
  if (ctx.idempotencyKey !== undefined && ctx.idempotencyKey !== '') return `key ${ctx.idempotencyKey}`;
  const { messageId } = request.message;
  return messageId === '' || traits.mintsMessageIds === true ? undefined : `id ${messageId}`;
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
