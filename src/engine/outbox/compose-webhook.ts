import type { AuthenticationInfo, DialectId, Seq, TaskEvent, WebhookForm } from '#protocol';
import { NO_EVENT, parseOwnJson, startFold } from '#protocol';
import type { LogEntry, PushRow, SemanticsOf, Store } from '../ports.ts';
import type { BlobParts } from '../read/blobs.ts';
import { restoreContent } from '../read/blobs.ts';
import { nameFor, renameEvent } from '../read/task-names.ts';
import type { Vault, WebhookDelivery } from './delivery.ts';
import type { DeliveryQueue } from './queue.ts';
import { endOf } from './queue.ts';

/** What composing a delivery needs of the engine. */
export interface ComposeParts extends BlobParts {
  readonly store: Pick<Store, 'entries'>;
  readonly vault: Vault | undefined;
  readonly semanticsOf: SemanticsOf;
  readonly webhookOf: (dialect: DialectId) => WebhookForm;
}

const PAGE = 64;

/** A delivery that is ready to be sent. */
export interface ComposedWebhook {
  readonly delivery: WebhookDelivery;
  /** The last event that it covers. */
  readonly seq: Seq;
}

/** The next delivery of a queue. It depends on the log alone, so every attempt sends the same. */
export async function composeWebhook(parts: ComposeParts, queue: DeliveryQueue, push: PushRow): Promise<ComposedWebhook> {
  const form = parts.webhookOf(push.dialect);
  const { seq, event } = await (form.carries === 'task' ? nextSnapshot(parts, queue) : nextEvent(parts, queue));
  const name = nameFor(queue.task, parts.semanticsOf(push.dialect));
  const secrets = await openSecrets(push, parts.vault);
  const delivery: WebhookDelivery = {
    id: deliveryId(queue.task.id, push.config.id, seq),
    url: push.config.url,
    mediaType: form.mediaType,
    body: JSON.stringify(form.write(name === undefined ? event : renameEvent(event, name))),
    ...secrets,
    ...(queue.origin?.trace === undefined ? {} : { trace: queue.origin.trace }),
    about: { agent: queue.task.agent, task: queue.task.id, config: push.config.id, seq },
  };
  return { delivery, seq };
}

interface EventAt {
  readonly seq: Seq;
  readonly event: TaskEvent;
}

async function nextEvent(parts: ComposeParts, queue: DeliveryQueue): Promise<EventAt> {
  const entry = (await pageAfter(parts, queue, queue.row.done))[0];
  if (entry === undefined) throw missing(queue, queue.row.done);
  const [{ event, seq } = entry] = await restoreContent(parts, queue.task.key, [entry]);
  return { seq, event };
}

/**
 * The task as it was after its next status change or, if there is none yet, after all events so far: a
 * webhook that gets whole tasks does not get one for every chunk.
 */
async function nextSnapshot(parts: ComposeParts, queue: DeliveryQueue): Promise<EventAt> {
  const end = queue.head ?? endOf(queue);
  const isUsable = queue.fold !== undefined && (queue.fold.at <= queue.row.done || queue.fold.at === queue.head);
  const from = queue.fold !== undefined && isUsable ? queue.fold : { fold: startFold(), at: NO_EVENT };
  const { fold } = from;
  let { at } = from;
  let isFound = false;
  while (at < end && !isFound) {
    const page = await pageAfter(parts, queue, at);
    if (page.length === 0) throw missing(queue, at);
    for (const entry of await restoreContent(parts, queue.task.key, page)) {
      fold.add(entry.event, entry.input);
      at = entry.seq;
      isFound = queue.head === undefined && at > queue.row.done && entry.event.artifactUpdate === undefined;
      if (isFound || at >= end) break;
    }
  }
  queue.fold = { fold, at };
  return { seq: at, event: { task: fold.task(at) } };
}

function missing({ task }: DeliveryQueue, after: Seq): Error {
  return new Error(`event ${after + 1} of task ${task.id} is missing`);
}

/** Reads ahead: a page of the log costs about as much as one entry. */
async function pageAfter({ store }: ComposeParts, queue: DeliveryQueue, after: Seq): Promise<readonly LogEntry[]> {
  const first = queue.ahead[0]?.seq ?? 0;
  const skip = after + 1 - first;
  if (first > 0 && skip >= 0 && skip < queue.ahead.length) return queue.ahead.slice(skip);
  const limit = Math.min(PAGE, endOf(queue) - after);
  queue.ahead = limit <= 0 ? [] : await store.entries(queue.task.key, { after, limit });
  return queue.ahead;
}

interface WebhookSecrets {
  readonly token?: string;
  readonly authentication?: AuthenticationInfo;
}

/**
 * Secrets are sealed together with the address: a changed row in the store can't send them elsewhere.
 */
export function sealedAbout({ id, url }: PushRow['config']): string {
  return `${id}\n${url}`;
}

async function openSecrets({ config, sealed }: PushRow, vault: Vault | undefined): Promise<WebhookSecrets> {
  if (sealed === undefined) return config.authentication === undefined ? {} : { authentication: config.authentication };
  if (vault === undefined) throw new Error('there is no key for the credentials of a webhook');
  return parseOwnJson(await vault.open(sealed, sealedAbout(config)));
}

/**
 * A header can hold our task ids, but not every id that a caller may choose for a config. So the
 * config's id is hashed.
 */
function deliveryId(task: string, config: string, seq: Seq): string {
  let hash = 0x811c9dc5; // FNV-1a: it only has to distinguish the few configs of one task
  for (let at = 0; at < config.length; at += 1) hash = Math.imul(hash ^ config.charCodeAt(at), 0x01000193);
  return `msg_${task}_${(hash >>> 0).toString(16).padStart(8, '0')}_${seq}`;
}
