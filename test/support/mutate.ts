import type { Json } from '#protocol';

/** A small seeded generator (mulberry32): the same seed gives the same mutations on every machine. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Random = () => number;

/** Values that have broken readers before. */
const HOSTILE: readonly ((random: Random) => Json)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1e308,
  () => 2 ** 53,
  () => '',
  () => '\u0000',
  () => '\ud800',
  () => 'x'.repeat(200),
  () => 'TASK_STATE_BOGUS',
  () => 'ROLE_UNSPECIFIED',
  () => '2026-13-45T99:99:99Z',
  () => 'not base64 !',
  () => [],
  () => ({}),
  () => [null],
  () => nested(70),
  () => nested(30),
  () => JSON.parse('{"__proto__":{"polluted":true}}') as Json,
  () => ({ constructor: { prototype: { polluted: true } } }),
  () => ({ toString: 'x', valueOf: 1, hasOwnProperty: null }),
  (random) => Math.floor(random() * 1e6),
  () => Array.from({ length: 120 }, () => ({ text: 'x' })),
];

const KEYS = [
  'kind',
  'type',
  'role',
  'text',
  'id',
  'taskId',
  'contextId',
  'method',
  'jsonrpc',
  'params',
  'parts',
  'toString',
  'status',
  'data',
  'raw',
  'url',
  'file',
];

/** One mutation of a request's bytes: most change the document, the rest break the bytes. */
export function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  if (random() < 0.2) return mutateBytes(bytes, random);
  const document = JSON.parse(new TextDecoder().decode(bytes)) as Json;
  const times = 1 + Math.floor(random() * 3);
  let changed = document;
  for (let time = 0; time < times; time += 1) changed = mutateJson(changed, random);
  let text = JSON.stringify(changed) ?? 'null';
  if (random() < 0.02) text = text.replace(/:\s*(\d+|"[^"]*")/, ':1e999');
  return new TextEncoder().encode(text);
}

function mutateJson(document: Json, random: Random): Json {
  const places = placesOf(document);
  const place = places[Math.floor(random() * places.length)];
  if (place === undefined) return hostile(random);
  const { holder, key } = place;
  const box = holder as Record<string, Json>;
  switch (Math.floor(random() * 5)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete box[key];
      break;
    case 1:
      box[key] = hostile(random);
      break;
    case 2:
      Object.defineProperty(box, pick(KEYS, random), { value: hostile(random), enumerable: true, configurable: true, writable: true });
      break;
    case 3:
      if (!Array.isArray(holder)) box[pick(KEYS, random)] = box[key] as Json;
      else holder.push(structuredClone(box[key] as Json));
      break;
    default:
      box[key] = typeof box[key] === 'string' ? twist(box[key], random) : hostile(random);
  }
  return document;
}

interface Place {
  readonly holder: Json[] | Record<string, Json>;
  readonly key: string;
}

function placesOf(document: Json): readonly Place[] {
  if (typeof document !== 'object' || document === null) return [];
  const holder = document as Json[] | Record<string, Json>;
  return Object.keys(document).flatMap((key) => [{ holder, key }, ...placesOf((holder as Record<string, Json>)[key] as Json)]);
}

function twist(text: string, random: Random): string {
  const at = Math.floor(random() * (text.length + 1));
  return pick(
    [text.slice(0, at), text.toUpperCase(), `${text} `, text.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), text + text],
    random,
  );
}

function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const at = Math.floor(random() * bytes.length);
  const [head, tail] = [bytes.slice(0, at), bytes.slice(at)];
  switch (Math.floor(random() * 6)) {
    case 0:
      return head;
    case 1:
      return Uint8Array.of(...head, 0xff, 0xfe, ...tail);
    case 2:
      return Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes);
    case 3:
      return Uint8Array.of(...head, Math.floor(random() * 256), ...tail.slice(1));
    case 4:
      return new TextEncoder().encode(`[${new TextDecoder().decode(bytes)},${new TextDecoder().decode(bytes)}]`);
    default:
      return Uint8Array.of(...head, ...tail, ...tail);
  }
}

function nested(depth: number): Json {
  let value: Json = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { deeper: value };
  return value;
}

function hostile(random: Random): Json {
  return pick(HOSTILE, random)(random);
}

function pick<T>(from: readonly T[], random: Random): T {
  return from[Math.floor(random() * from.length)] as T;
}
