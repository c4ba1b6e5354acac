import type { CardField, CardType } from './card-fields.ts';
import { CARD_FIELDS } from './card-fields.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';

/** One violation of the A2A 1.0.1 card schema. */
export interface CardProblem {
  /** For example `skills[0].tags`. */
  readonly path: string;
  readonly problem: string;
}

/**
 * Checks a card strictly against A2A 1.0.1. The card reader is more lenient and takes what it can use.
 * Unknown members are allowed (§5.7): supersets and extensions use them.
 */
export function cardProblems(card: unknown): readonly CardProblem[] {
  const raw = card as Json | undefined;
  if (!isObject(raw)) return [{ path: '', problem: 'must be an object' }];
  return messageProblems(raw, 'AgentCard', '');
}

/** The members of a card that A2A 1.0 does not have: those of older versions and of products. */
export function foreignMembers(card: JsonObject): readonly string[] {
  return Object.keys(card).filter((name) => !CARD_FIELDS.AgentCard.has(name));
}

/**
 * Checks one message of the schema: its members, and that exactly one member of each oneof is present.
 */
function messageProblems(raw: JsonObject, type: CardType, path: string): readonly CardProblem[] {
  const found: CardProblem[] = [];
  const chosen: string[] = [];
  const fields = [...CARD_FIELDS[type].values()];
  for (const field of fields) {
    const value = raw[field.name] ?? raw[field.snake];
    const at = path === '' ? field.name : `${path}.${field.name}`;
    if (value === undefined || value === null) {
      if (field.presence === 'required') found.push({ path: at, problem: 'is missing' });
      continue;
    }
    if (field.presence === 'oneof') chosen.push(field.name);
    found.push(...fieldProblems(value, field, at));
  }
  const options = fields.filter(({ presence }) => presence === 'oneof').map(({ name }) => name);
  if (options.length > 0 && chosen.length !== 1) {
    found.push({
      path,
      problem: `must have exactly one of ${options.join(', ')}; has ${chosen.length === 0 ? 'none' : chosen.join(' and ')}`,
    });
  }
  return found;
}

/** Checks a member: one value, a list or a map. */
function fieldProblems(value: Json, field: CardField, path: string): readonly CardProblem[] {
  switch (field.shape) {
    case 'list':
      if (!Array.isArray(value)) return [{ path, problem: 'must be a list' }];
      return value.flatMap((item: Json, at) => oneProblems(item, field, `${path}[${at}]`));
    case 'map':
      if (!isObject(value)) return [{ path, problem: 'must be an object' }];
      return Object.entries(value).flatMap(([name, item]) => oneProblems(item, field, `${path}.${name}`));
    case 'one':
      return oneProblems(value, field, path);
  }
}

function oneProblems(value: Json, { message, scalar, presence }: CardField, path: string): readonly CardProblem[] {
  if (message !== undefined) return isObject(value) ? messageProblems(value, message, path) : [{ path, problem: 'must be an object' }];
  if (scalar === 'string' && typeof value !== 'string') return [{ path, problem: 'must be a text' }];
  if (scalar === 'string' && value === '' && presence === 'required') return [{ path, problem: 'must not be empty' }];
  if (scalar === 'bool' && typeof value !== 'boolean') return [{ path, problem: 'must be true or false' }];
  if (scalar === 'Struct' && !isObject(value)) return [{ path, problem: 'must be an object' }];
  return [];
}
