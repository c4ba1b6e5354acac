import { describe, expect, it } from 'vitest';
import type { Dialect, Json, Operation, Shape } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';
import type { Exchange } from './support/corpus.ts';
import { corpus, corpusDialects } from './support/corpus.ts';
import { countingEnv } from './support/env.ts';

const registry = createRegistry(DIALECTS);

interface Document {
  readonly file: string;
  readonly dialect: Dialect;
  readonly shape: Shape;
  readonly raw: Json;
}

/**
 * Replaces every member of every recorded document, one at a time, with a value of another type. A reader may accept that. If it does not,
 * it must report the member's own path in the sender's spelling. Spellings that are only accepted (`only: read`) are reported in the usual
 * one, and so is snake_case in ProtoJSON.
 */
describe('a bad member is reported with its path', () => {
  for (const folder of corpusDialects()) {
    const documents = corpus(folder).flatMap(documentsOf);
    it(folder, () => {
      const wrong: string[] = [];
      let faults = 0;
      for (const document of documents) {
        for (const { path, spoilt } of spoiled(document.raw)) {
          const decoded = document.dialect.decode(document.shape, spoilt, { ...countingEnv(), rpcId: 'r' });
          if (decoded.ok || decoded.reason !== 'invalid') continue;
          faults += 1;
          if (!leadsTo(decoded.path, path))
            wrong.push(`${document.file} ${document.shape}: ${path} is called ${decoded.path} (${decoded.problem})`);
        }
      }
      expect([...new Set(wrong)]).toEqual([]);
      expect(faults).toBeGreaterThan(documents.length);
    });
  }
});

function documentsOf(exchange: Exchange): readonly Document[] {
  const dialect = registry.byId(exchange.dialect);
  const { operation, request, response, file } = exchange;
  // A card is read in many forms, and problems are reported in 1.0's names.
  if (dialect === undefined || operation === 'card' || operation === 'extendedCard' || operation === 'error') return [];
  const result = exchange.rest === undefined ? (response as { readonly result?: Json } | undefined)?.result : response;
  const params = exchange.rest === undefined ? request?.params : exchange.rest.body;
  const found: readonly (readonly ['request' | 'result', Json | undefined])[] = [
    ['request', exchange.only?.request === 'read' ? undefined : params],
    ['result', exchange.only?.response === 'read' ? undefined : result],
  ];
  return found.flatMap(([side, raw]) => {
    const shape = `${operation as Operation}.${side}` as Shape;
    const read = raw !== undefined && dialect.decode(shape, raw, { ...countingEnv(), rpcId: 'r' }).ok;
    return read ? [{ file, dialect, shape, raw }] : [];
  });
}

interface Spoilt {
  readonly path: string;
  readonly spoilt: Json;
}

function* spoiled(value: Json, path = ''): Generator<Spoilt> {
  if (path !== '') yield { path, spoilt: typeof value === 'string' || typeof value === 'object' ? 7.5 : 'x' };
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const below = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    for (const { path: at, spoilt } of spoiled(member as Json, below)) yield { path: at, spoilt: withMember(value, name, spoilt) };
  }
}

function withMember(owner: Json, name: string, value: Json): Json {
  if (Array.isArray(owner)) return owner.with(Number(name), value);
  return { ...(owner as object), [name]: value } as Json;
}

/** The member itself, a value above it (a list that must not hold this), or a value in it. */
function leadsTo(named: string, path: string): boolean {
  const [one, other] = [camel(named), camel(path)];
  return one === '' || one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`) || other.startsWith(`${one}[`);
}

function camel(path: string): string {
  return path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
