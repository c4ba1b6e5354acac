import type { AgentCard } from './card.ts';
import type { Dialect, Loss, ReadEnv } from './dialects/dialect.ts';
import { dialectLosses } from './dialects/loss-table.ts';
import type { Difference } from './differences.ts';
import { differences, equal } from './differences.ts';
import type { Json } from './json.ts';
import { parseJson } from './json.ts';
import type { Shape, Shapes } from './operations.ts';

/**
 * A field that a dialect could not express, with the entry of the dialect's loss table that explains
 * it. No entry means that the loss is a defect of Parley.
 */
export interface Lost extends Difference {
  readonly loss: Loss | undefined;
}

/** Name of the canonical type of each shape, as loss tables spell it (`Task.metadata`). */
const TYPE_OF: Readonly<Record<Shape, string>> = {
  'send.request': 'SendRequest',
  'stream.request': 'SendRequest',
  'get.request': 'GetRequest',
  'list.request': 'ListRequest',
  'cancel.request': 'CancelRequest',
  'subscribe.request': 'SubscribeRequest',
  'push.create.request': 'PushConfig',
  'push.get.request': 'PushGetRequest',
  'push.list.request': 'PushListRequest',
  'push.delete.request': 'PushDeleteRequest',
  'extendedCard.request': 'ExtendedCardRequest',
  'card.request': 'ExtendedCardRequest',
  'send.result': 'SendResult',
  'get.result': 'Task',
  'list.result': 'TaskPage',
  'cancel.result': 'Task',
  'push.create.result': 'PushConfig',
  'push.get.result': 'PushConfig',
  'push.list.result': 'PushPage',
  'push.delete.result': 'null',
  'extendedCard.result': 'AgentCard',
  'card.result': 'AgentCard',
  event: 'TaskEvent',
};

/** Writes a value in a dialect, reads it back, and reports what the reader no longer sees. */
export function encodeWithLosses<K extends Shape>(
  dialect: Dialect,
  [shape, value]: readonly [K, Shapes[K]],
  env: ReadEnv,
): { readonly json: Json; readonly lost: readonly Lost[]; readonly kept: Shapes[K] | undefined } {
  const json = parseJson(JSON.stringify(dialect.encode(shape, value)));
  const read = dialect.decode(shape, json, env);
  const kept = read.ok ? read.value : undefined;
  return { json, lost: explain(dialect, differences(TYPE_OF[shape], value, kept), placeOf(shape)), kept };
}

/** The same as `encodeWithLosses`, for a card. */
export function writeCardWithLosses(
  dialect: Dialect,
  card: AgentCard,
  env: ReadEnv,
): { readonly json: Json; readonly lost: readonly Lost[] } {
  const json = parseJson(JSON.stringify(dialect.card.write(card)));
  const read = dialect.card.read(json, env);
  return { json, lost: explain(dialect, differences('AgentCard', card, read.ok ? read.value : undefined), 'answers') };
}

type Place = 'requests' | 'answers';

function placeOf(shape: Shape): Place {
  return shape.endsWith('.request') ? 'requests' : 'answers';
}

function explain(dialect: Dialect, found: readonly Difference[], place: Place): readonly Lost[] {
  const losses = dialectLosses(dialect).filter((loss) => loss.in === undefined || loss.in === place);
  return found.map((difference) => ({ ...difference, loss: losses.find((loss) => covers(loss, difference)) }));
}

function covers(loss: Loss, difference: Difference): boolean {
  if (loss.field !== difference.field || (loss.absent ?? false) !== (difference.was === undefined)) return false;
  if (loss.beside !== undefined && !loss.beside.some((member) => difference.owner[member] !== undefined)) return false;
  return loss.values === undefined || loss.values.some((value) => equal(value, difference.was));
}
