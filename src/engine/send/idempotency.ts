import type { Message, SendRequest } from '#protocol';
import { A2AError } from '#protocol';
import type { MaybePromise, SendRecord, Store } from '../ports.ts';
import { ShortLivedMap } from '../short-lived-map.ts';
import { scopedKey } from '../tasks/keys.ts';
import type { AcceptedMessage } from '../tasks/live-task.ts';
import type { AdmitParts, SendIdentity } from './admit.ts';
import { admit } from './admit.ts';
import type { SendCall } from './call.ts';
import { checkContextOwned } from './own-context.ts';

/** Where a send went: into a task, held, or it has the direct message that answered it. */
export type Sent = (AcceptedMessage & { readonly answer?: never }) | { readonly answer: Message };

/** A send whose record is not durable yet. */
interface Reservation {
  readonly fingerprint: string;
  /** Undefined: it was a repetition itself. */
  readonly accepted: MaybePromise<AcceptedMessage | undefined>;
}

/** What the engine remembers of sends between commits. */
export interface RecentSends {
  /** Sends that are being accepted, by key. */
  readonly reservations: ShortLivedMap<string, Reservation>;
  /** Sends whose answers went out since the last commit. */
  readonly delivered: ShortLivedMap<string, true>;
}

export function newRecentSends(): RecentSends {
  return { reservations: new ShortLivedMap(), delivered: new ShortLivedMap() };
}

/** What recognising a repeated send needs of the engine. */
export interface IdempotencyParts extends AdmitParts {
  readonly store: AdmitParts['store'] & Pick<Store, 'send'>;
  readonly recentSends: RecentSends;
  /** `messageId`: a repeated message id always attaches to the first task. */
  readonly idempotency: 'key' | 'messageId';
}

/**
 * Recognises a repeated send. It attaches to the task of the first one if it carries an
 * Idempotency-Key, if the first answer never reached its caller, or if the node is configured so;
 * otherwise it is a new send. The same key with another body is an error. An empty messageId identifies
 * nothing.
 *
 * The key is reserved in memory before the first await, so of several simultaneous sends one is
 * accepted. The record is part of the commit that saves the message; from then on the store recognises
 * repetitions, also after a restart.
 */
export function sendOnce(parts: IdempotencyParts, call: SendCall, identity: SendIdentity | undefined): MaybePromise<Sent> {
  if (identity === undefined) return admit(parts, call);
  const reservation = parts.recentSends.reservations.get(identity.key);
  return reservation === undefined ? first(parts, call, identity) : join(parts, call, { identity, reservation });
}

/**
 * The first send with this key in this process; the store may know an earlier one. Synchronous over a
 * synchronous store.
 */
function first(parts: IdempotencyParts, call: SendCall, identity: SendIdentity): MaybePromise<Sent> {
  // The owner of the conversation looks for the name. This process would only ask the store in vain.
  checkContextOwned(parts.cells, call);
  const known = attach(parts, call, identity);
  if (known instanceof Promise) return firstLater(parts, call, { identity, known });
  if (known !== undefined) return known;
  const accepted = admit(parts, call, identity);
  if (accepted instanceof Promise) return firstLater(parts, call, { identity, accepted });
  parts.recentSends.reservations.set(identity.key, { fingerprint: identity.fingerprint, accepted });
  return accepted;
}

interface Later {
  readonly identity: SendIdentity;
  readonly known?: Promise<Sent | undefined>;
  readonly accepted?: Promise<AcceptedMessage>;
}

/** The same over a store that answers later. The reservation lets repetitions wait for the outcome. */
async function firstLater(parts: IdempotencyParts, call: SendCall, later: Later): Promise<Sent> {
  const { identity } = later;
  const { reservations } = parts.recentSends;
  const { promise, resolve, reject } = Promise.withResolvers<AcceptedMessage | undefined>();
  promise.catch(() => {}); // only repetitions wait for it, and there may be none
  reservations.set(identity.key, { fingerprint: identity.fingerprint, accepted: promise });
  try {
    const known = await later.known;
    if (known !== undefined) {
      reservations.delete(identity.key);
      resolve(undefined);
      return known;
    }
    const accepted = await (later.accepted ?? admit(parts, call, identity));
    resolve(accepted);
    return accepted;
  } catch (thrown) {
    reservations.delete(identity.key);
    reject(thrown);
    throw thrown;
  }
}

interface Joining {
  readonly identity: SendIdentity;
  readonly reservation: Reservation;
}

/** A repetition of a send that is being accepted: waits for it and gets the same task. */
async function join(parts: IdempotencyParts, call: SendCall, { identity, reservation }: Joining): Promise<Sent> {
  checkBody(reservation, identity);
  const accepted = await reservation.accepted;
  // While the key is reserved, the task is in memory. Afterwards the store knows where the message went.
  if (accepted === undefined || parts.recentSends.reservations.get(identity.key) !== reservation) return sendOnce(parts, call, identity);
  accepted.task.hold();
  return accepted;
}

/** The records of these sends are durable. */
export function endReservations({ reservations }: RecentSends, keys: readonly string[]): void {
  for (const key of keys) reservations.delete(key);
}

function attach(parts: IdempotencyParts, call: SendCall, identity: SendIdentity): MaybePromise<Sent | undefined> {
  const found = parts.store.send(identity);
  if (found instanceof Promise) return found.then((record) => attachTo(parts, call, { identity, record }));
  return found === undefined ? undefined : attachTo(parts, call, { identity, record: found });
}

interface Attaching {
  readonly identity: SendIdentity;
  readonly record: SendRecord | undefined;
}

/**
 * A repetition of a stored send: its task or its direct answer. Undefined if it is a new send after
 * all.
 */
async function attachTo(parts: IdempotencyParts, call: SendCall, { identity, record }: Attaching): Promise<Sent | undefined> {
  if (record === undefined || !isRepetition(parts, call, { record, key: identity.key })) return undefined;
  checkBody(record, identity);
  if (record.answer !== undefined) return { answer: record.answer };
  if (record.task === undefined) return undefined;
  // The task is being replaced by a direct message, or deleted. After that commit the record tells which.
  if (parts.tasks.isDeleting(record.task.id)) {
    await parts.commits.settled();
    return attach(parts, call, identity);
  }
  const task = await parts.tasks.hold(call.owner, record.task.id);
  return task === undefined ? undefined : { task, seq: record.task.seq };
}

interface KnownSend {
  readonly record: SendRecord;
  readonly key: string;
}

function isRepetition(parts: IdempotencyParts, call: SendCall, { record, key }: KnownSend): boolean {
  return alwaysAttaches(parts, call) || !(record.delivered || parts.recentSends.delivered.has(key));
}

function alwaysAttaches({ idempotency }: IdempotencyParts, call: SendCall): boolean {
  if (idempotency === 'messageId' || (call.ctx.idempotencyKey ?? '') !== '') return true;
  return call.ctx.retryKey !== undefined && tokenOf(call, idempotency)?.startsWith(RETRY) === true;
}

function checkBody(known: { readonly fingerprint: string }, identity: SendIdentity): void {
  if (known.fingerprint === identity.fingerprint) return;
  throw new A2AError('INVALID_PARAMS', 'this message id or idempotency key was already used for another message', {
    field: 'message.messageId',
  });
}

/**
 * Returns a function to call when the answer has been sent. After that call the same message is a new
 * send. The next commit writes the mark; after a crash before that commit, a repetition gets the same
 * task again, which is harmless. Undefined: a repetition always gets the same task.
 */
export function deliveryMark(parts: IdempotencyParts, call: SendCall, identity: SendIdentity | undefined): (() => void) | undefined {
  if (identity === undefined || alwaysAttaches(parts, call)) return undefined;
  const { owner, agent, token, key } = identity;
  const { delivered } = parts.recentSends;
  return () => {
    if (delivered.has(key)) return;
    delivered.set(key, true);
    parts.commits.addLazily({ kind: 'delivered', name: { owner, agent, token } }, () => delivered.delete(key));
  };
}

/** What identifies a send. Undefined if it has neither a key nor a usable message id. */
export function identityOf(parts: IdempotencyParts, call: SendCall): SendIdentity | undefined {
  const { owner, facts, request } = call;
  const token = tokenOf(call, parts.idempotency);
  if (token === undefined) return undefined;
  const { agent } = facts;
  // A replica repeats the same bytes, but the dialect may mint another message id from them.
  const fingerprint = token.startsWith(RETRY) ? '' : fingerprintOf(request, call.ctx.semantics?.mintedMessageId);
  return { owner, agent, token, fingerprint, key: scopedKey(owner, agent, token) };
}

/**
 * The prefixes keep keys and message ids apart. A message id that the dialect made up never comes again
 * and identifies nothing. Neither does one that an agent may get twice with another meaning.
 */
function tokenOf(call: SendCall, idempotency: IdempotencyParts['idempotency']): string | undefined {
  const { request, ctx, facts } = call;
  if (ctx.idempotencyKey !== undefined && ctx.idempotencyKey !== '') return `key ${ctx.idempotencyKey}`;
  const { messageId } = request.message;
  const isOwn = messageId !== '' && ctx.semantics?.mintedMessageId !== true;
  if (isOwn && (!facts.repeatsAnew || idempotency === 'messageId')) return `id ${messageId}`;
  return ctx.retryKey === undefined ? undefined : `${RETRY}${ctx.retryKey}`;
}

const RETRY = 'retry ';

/**
 * 53 bits over the message's JSON (cyrb53). It finds a caller's mistake, not an attack, and is cheap
 * enough for every send. An id that the dialect made up is left out: a repetition gets another one.
 */
function fingerprintOf({ message, metadata, alias }: SendRequest, isMinted = false): string {
  const text = JSON.stringify([isMinted ? { ...message, messageId: undefined } : message, metadata, alias]);
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
