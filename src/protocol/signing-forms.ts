import { canonicalJson } from './canonical-json.ts';
import type { AgentCard } from './card.ts';
import type { CardField, CardType } from './card-fields.ts';
import { CARD_FIELDS, cardView } from './card-fields.ts';
import { wrapFlatSchemes } from './dialects/flat-schemes.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';

/**
 * How the signed bytes of a card are computed: canonical JSON of the card's 1.0 view without
 * `signatures`. Members that 1.0 does not know, such as the older members of a superset, are not
 * covered. Code must not trust them because of a signature.
 *
 * `spec` is A2A 1.0.1 §8.4.1: REQUIRED members stay, `optional` ones stay if set, others stay unless
 * they have their default value. `sdk` is what a2a-js and a2a-python sign: every empty text, list and
 * object is removed, at any depth (a2a-js#627, A2A#2122).
 */
export type SigningForm = 'spec' | 'sdk';

/** The signed bytes of a card in one form. */
export interface SigningCandidate {
  readonly form: SigningForm;
  readonly payload: Uint8Array;
  /**
   * Members of this card that the form does not cover. An attacker could have added or changed them.
   */
  readonly uncovered: readonly string[];
}

const FORMS: readonly SigningForm[] = ['spec', 'sdk'];

/**
 * The bytes that a signature covers. Pass the card as it was received: a card that was read has
 * defaults filled in.
 */
export function signingPayload(card: AgentCard | JsonObject, form: SigningForm = 'spec'): Uint8Array {
  return candidateOf(signedView(card), form).payload;
}

/** The bytes in each form, `spec` first. One element where both forms agree. */
export function signingCandidates(card: AgentCard | JsonObject, forms: readonly SigningForm[] = FORMS): readonly SigningCandidate[] {
  const view = signedView(card);
  const all = FORMS.filter((form) => forms.includes(form)).map((form) => candidateOf(view, form));
  const [first, second] = all;
  return first !== undefined && second !== undefined && isSame(first.payload, second.payload) ? [first] : all;
}

function signedView(card: AgentCard | JsonObject): JsonObject {
  const { signatures: _, ...view } = cardView(wrapFlatSchemes(card as JsonObject), isKept);
  return view;
}

function candidateOf(view: JsonObject, form: SigningForm): SigningCandidate {
  const spec = canonicalJson(view); // first: it rejects values that are too deep for the recursive functions below
  const text = form === 'spec' ? spec : canonicalJson(withoutEmpty(view) ?? {});
  return { form, payload: new TextEncoder().encode(text), uncovered: form === 'spec' ? [] : unseen(view, 'AgentCard') };
}

function isKept(field: CardField, value: Json): boolean {
  return field.presence !== 'plain' || !(value === false || isEmpty(value));
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function withoutEmpty(value: Json): Json | undefined {
  let out: Json = value;
  if (Array.isArray(value)) out = value.map(withoutEmpty).filter((item) => item !== undefined);
  else if (isObject(value)) {
    const members = Object.entries(value).map(([name, item]) => [name, withoutEmpty(item)] as const);
    out = Object.fromEntries(members.filter((entry): entry is [string, Json] => entry[1] !== undefined));
  }
  return isEmpty(out) ? undefined : out;
}

/**
 * Paths of members that the `sdk` form drops although their presence has a meaning: an item of a list,
 * an entry of a map (a requirement without scopes), the member of a oneof (mTLS), anything in free-form
 * JSON. An empty plain member means the same as an absent one and is not reported.
 */
function unseen(message: JsonObject, type: CardType): string[] {
  return [...CARD_FIELDS[type].values()].flatMap((field) => {
    const value = message[field.name];
    return value === undefined ? [] : unseenIn(value, field).map((path) => `${field.name}${path}`);
  });
}

function unseenIn(value: Json, field: CardField): string[] {
  const inside = (item: Json): string[] => {
    if (field.message !== undefined && isObject(item)) return unseen(item, field.message).map((path) => `.${path}`);
    return canonicalJson(withoutEmpty(item) ?? null) === canonicalJson(item) ? [] : [''];
  };
  const counted = (item: Json): string[] => (withoutEmpty(item) === undefined ? [''] : inside(item));
  if (Array.isArray(value)) return value.flatMap((item, at) => counted(item).map((path) => `[${at}]${path}`));
  if (field.shape === 'map' && isObject(value)) {
    return Object.entries(value).flatMap(([name, item]) => counted(item).map((path) => `.${name}${path}`));
  }
  if (field.presence === 'oneof') return counted(value);
  return isEmpty(value) ? [] : inside(value);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
