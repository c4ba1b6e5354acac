import type { AuthenticationInfo, Seq, TaskEvent, WebhookForm } from '#protocol';
import { startFold } from '#protocol';
import type { Entry, PushRow } from '../ports.ts';
import { unspill } from '../read/blobs.ts';
import { nameFor, renameEvent } from '../read/task-names.ts';
import type { Core } from '../tasks/core.ts';
import type { Delivery, Vault } from './courier.ts';
import type { Lane } from './lane.ts';
import { endOf } from './lane.ts';

const PAGE = 64;

export interface Composed {
  readonly delivery: Delivery;
  /** With it everything up to here is told. */
  readonly seq: Seq;
}

/** The next delivery of a lane, made of the log alone: the same each time it is made. */
export async function compose(core: Core, lane: Lane, { push, vault }: { push: PushRow; vault: Vault | undefined }): Promise<Composed> {
  const form = core.webhookOf(push.dialect);
  const { seq, event } = await (form.carries === 'task' ? nextSnapshot(core, lane) : nextEvent(core, lane));
  const name = nameFor(lane.task, core.traitsOf(push.dialect));
  const secrets = await openSecrets(push, vault);
  const delivery: Delivery = {
    id: deliveryId(lane.task.id, push.config.id, seq),
    url: push.config.url,
    mediaType: form.mediaType,
    body: bodyOf(form, name === undefined ? event : renameEvent(event, name)),
    ...secrets,
  };
  return { delivery, seq };
}

function bodyOf(form: WebhookForm, event: TaskEvent): string {
  return JSON.stringify(form.write(event));
}

interface Told {
  readonly seq: Seq;
  readonly event: TaskEvent;
}

async function nextEvent(core: Core, lane: Lane): Promise<Told> {
  const entry = (await pageAfter(core, lane, lane.row.done))[0];
  if (entry === undefined) throw new Error(`event ${lane.row.done + 1} of task ${lane.task.id} is not there`);
  const [{ event, seq } = entry] = await unspill(core, lane.task.key, [entry]);
  return { seq, event };
}

/**
 * The task as it stood after the next change of its status; or, if there is none yet, after all that it has made so far: what is sent
 * whole need not be sent for every chunk.
 */
async function nextSnapshot(core: Core, lane: Lane): Promise<Told> {
  const end = lane.head ?? endOf(lane);
  const isOfUse = lane.fold !== undefined && (lane.fold.at <= lane.row.done || lane.fold.at === lane.head);
  const from = lane.fold !== undefined && isOfUse ? lane.fold : { fold: startFold(), at: 0 as Seq };
  const { fold } = from;
  let { at } = from;
  let isFound = false;
  while (at < end && !isFound) {
    const page = await pageAfter(core, lane, at);
    if (page.length === 0) throw new Error(`event ${at + 1} of task ${lane.task.id} is not there`);
    for (const entry of await unspill(core, lane.task.key, page)) {
      fold.add(entry.event, entry.input);
      at = entry.seq;
      isFound = lane.head === undefined && at > lane.row.done && entry.event.artifactUpdate === undefined;
      if (isFound || at >= end) break;
    }
  }
  lane.fold = { fold, at };
  return { seq: at, event: { task: fold.task(at) } };
}

/** Read ahead: a page of the log costs what one entry of it does. */
async function pageAfter(core: Core, lane: Lane, after: Seq): Promise<readonly Entry[]> {
  const first = lane.ahead[0]?.seq ?? 0;
  const skip = after + 1 - first;
  if (first > 0 && skip >= 0 && skip < lane.ahead.length) return lane.ahead.slice(skip);
  const limit = Math.min(PAGE, endOf(lane) - after);
  lane.ahead = limit <= 0 ? [] : await core.store.entries(lane.task.key, { after, limit });
  return lane.ahead;
}

export interface Secrets {
  readonly token?: string;
  readonly authentication?: AuthenticationInfo;
}

/** Sealed about the address as well: whoever can write to the store can't have them sent elsewhere. */
export function aboutPush({ id, url }: PushRow['config']): string {
  return `${id}\n${url}`;
}

async function openSecrets({ config, sealed }: PushRow, vault: Vault | undefined): Promise<Secrets> {
  if (sealed === undefined) return config.authentication === undefined ? {} : { authentication: config.authentication };
  if (vault === undefined) throw new Error('there is no key for the credentials of a webhook');
  return JSON.parse(await vault.open(sealed, aboutPush(config))) as Secrets;
}

/** A header can't hold every name that a caller can choose for a config; a task's id, which is ours, it can. */
function deliveryId(task: string, config: string, seq: Seq): string {
  let hash = 0x811c9dc5; // FNV-1a: it only has to tell the few configs of one task apart
  for (let at = 0; at < config.length; at += 1) hash = Math.imul(hash ^ config.charCodeAt(at), 0x01000193);
  return `msg_${task}_${(hash >>> 0).toString(16).padStart(8, '0')}_${seq}`;
}
