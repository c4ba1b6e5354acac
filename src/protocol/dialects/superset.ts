import type { AgentCard } from '../card.ts';
import type { CardType } from '../card-fields.ts';
import { CARD_FIELDS } from '../card-fields.ts';
import { A2AError, isA2AError } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import type { Dialect } from './dialect.ts';
import { DIALECTS } from './registry.ts';

/**
 * The form of `securitySchemes`, the one member that 1.0 and 0.x name alike and shape differently:
 * wrapped as in 1.0, flat as in 0.x, or each scheme in both forms at once, which readers of both
 * versions accept (docs/cards.md lists the clients that were tried).
 */
export type SchemeShape = 'wrapped' | 'flat' | 'both';

/** Options of `writeCard`. */
export interface WriteCardOptions {
  /**
   * `superset` (default): readable by clients of every dialect. `strict`: pure 1.0. Or the id of one
   * dialect.
   */
  readonly form?: 'superset' | 'strict' | (string & {});
  /** Form of the security schemes in a superset card. Default `both`. */
  readonly schemes?: SchemeShape;
  /** Default: `DIALECTS`. The first one is the canonical dialect. */
  readonly dialects?: readonly Dialect[];
}

/**
 * The JSON of a card as a server sends it.
 *
 * ```ts
 * response.end(JSON.stringify(writeCard(card, { form: 'strict' })));
 * ```
 */
export function writeCard(card: AgentCard, options: WriteCardOptions = {}): Json {
  const { form = 'superset', schemes = 'both', dialects = DIALECTS } = options;
  const [canonical, ...others] = dialects;
  if (canonical === undefined) throw new A2AError('INTERNAL_ERROR', 'no dialect to write a card in');
  if (form === 'strict') return canonical.card.write(card);
  if (form === 'superset') return superset(card, canonical, { others, schemes });
  const only = dialects.find((dialect) => dialect.id === form);
  if (only === undefined) throw new A2AError('INVALID_PARAMS', `unknown dialect ${form}`);
  return only.card.write(card);
}

/**
 * 1.0's card with the members that only other dialects have. It adds, changes and removes no member
 * that 1.0 knows, so readers of 1.0 see the same card and its signatures hold.
 */
function superset(
  card: AgentCard,
  canonical: Dialect,
  { others, schemes }: { readonly others: readonly Dialect[]; readonly schemes: SchemeShape },
): Json {
  let out = canonical.card.write(card);
  if (!isObject(out)) return out;
  for (const dialect of others) {
    if (dialect.card.isPublished === true) continue;
    const written = writtenBy(dialect, card);
    if (isObject(written)) out = withForeign(out, written, 'AgentCard');
  }
  return schemes === 'both' ? out : withSchemes(out, schemes);
}

/**
 * A dialect may be unable to express this card, for example 0.3 for an agent without an interface of
 * 0.3. Then it adds nothing.
 */
function writtenBy(dialect: Dialect, card: AgentCard): Json | undefined {
  try {
    return dialect.card.write(card);
  } catch (thrown) {
    if (isA2AError(thrown)) return undefined;
    throw thrown;
  }
}

/**
 * Adds members of another dialect's card that the schema of 1.0 does not know, so that one document
 * serves both.
 */
function withForeign(base: JsonObject, other: JsonObject, type: CardType): JsonObject {
  const out: Record<string, Json> = { ...base };
  for (const [name, theirs] of Object.entries(other)) {
    const field = CARD_FIELDS[type].get(name);
    const ours = base[name];
    if (field === undefined) {
      if (ours === undefined) out[name] = theirs;
    } else if (field.message !== undefined && ours !== undefined) {
      out[name] = nested(ours, theirs, field.message);
    }
  }
  return out;
}

/** Merges an object, a list of corresponding objects, or a map of objects by name. */
function nested(ours: Json, theirs: Json, type: CardType): Json {
  if (Array.isArray(ours)) {
    if (!Array.isArray(theirs)) return ours;
    return ours.map((item: Json, at) => {
      const twin: Json | undefined = theirs[at];
      return isObject(item) && isObject(twin) && item['id'] !== undefined && item['id'] === twin['id']
        ? withForeign(item, twin, type)
        : item;
    });
  }
  if (!isObject(ours) || !isObject(theirs)) return ours;
  if (type !== 'SecurityScheme') return withForeign(ours, theirs, type);
  return mapValues(ours, (scheme, name) => {
    const twin = theirs[name];
    return isObject(scheme) && isObject(twin) ? withForeign(scheme, twin, type) : scheme;
  });
}

/** Keeps one form of schemes that have both. A scheme that has no flat form stays as it is. */
function withSchemes(card: JsonObject, shape: 'wrapped' | 'flat'): JsonObject {
  const { securitySchemes } = card;
  if (!isObject(securitySchemes)) return card;
  const only = (scheme: Json): Json => {
    if (!isObject(scheme)) return scheme;
    const members = Object.entries(scheme).filter(([name]) => CARD_FIELDS.SecurityScheme.has(name) === (shape === 'wrapped'));
    return members.length === 0 ? scheme : Object.fromEntries(members);
  };
  return { ...card, securitySchemes: mapValues(securitySchemes, only) };
}

/**
 * A written card with the scopes of each security requirement as a plain list, which a2a-go 2 wants. A2A 1.0 has an object there, so
 * other readers may refuse it (docs/cards.md).
 */
export function withScopeLists(card: Json): Json {
  if (!isObject(card)) return card;
  const { skills } = card;
  return {
    ...scopesListed(card),
    ...(Array.isArray(skills) ? { skills: skills.map((skill: Json) => (isObject(skill) ? scopesListed(skill) : skill)) } : {}),
  };
}

function scopesListed(object: JsonObject): JsonObject {
  const { securityRequirements: requirements } = object;
  if (!Array.isArray(requirements)) return object;
  const listOf = (scopes: Json): Json => (isObject(scopes) ? (scopes['list'] ?? []) : scopes);
  const listed = (requirement: Json): Json =>
    isObject(requirement) && isObject(requirement['schemes'])
      ? { ...requirement, schemes: mapValues(requirement['schemes'], listOf) }
      : requirement;
  return { ...object, securityRequirements: requirements.map(listed) };
}

function mapValues(object: JsonObject, map: (value: Json, name: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));
}

/** What a request for a card reveals about its client. */
export interface CardRequest {
  readonly path?: string;
  /** `A2A-Version`, from the header or the query. */
  readonly version?: string | null;
}

/** How to write the card for a client. */
export interface CardChoice {
  readonly schemes: SchemeShape;
  /** Send these with every response, so that caches keep the forms apart. */
  readonly headers: { readonly Vary: 'A2A-Version' };
}

/**
 * Chooses the form of the schemes: by the version that the caller names; otherwise flat on 0.x's old
 * path; otherwise both forms, because clients of all versions fetch agent-card.json without a version,
 * and either form alone breaks some of them.
 */
export function negotiateCard(request: CardRequest): CardChoice {
  return { schemes: shapeFor(request), headers: { Vary: 'A2A-Version' } };
}

function shapeFor({ path, version }: CardRequest): SchemeShape {
  const major = /^\s*(\d+)\.\d+/.exec(version ?? '')?.[1];
  if (major !== undefined) return Number(major) >= 1 ? 'wrapped' : 'flat';
  return path !== undefined && /\/agent\.json$/.test(path) ? 'flat' : 'both';
}
