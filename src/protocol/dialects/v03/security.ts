import type { SecurityRequirement, SecurityScheme } from '../../card.ts';
import { fail, isRaw } from '../shared/read.ts';

type Schemes = Readonly<Record<string, SecurityScheme>>;

/** Scheme names of the card that reading has split, one flow each, and the names of the pieces. */
export type Splits = ReadonlyMap<string, readonly string[]>;

export function splitNames(raw: unknown, schemes: Schemes | undefined): Splits {
  const out = new Map<string, readonly string[]>();
  if (!isRaw(raw) || schemes === undefined) return out;
  const read = Object.keys(schemes);
  for (const name of Object.keys(raw)) {
    if (!Object.hasOwn(schemes, name)) {
      out.set(
        name,
        read.filter((piece) => piece.startsWith(`${name}.`) && !Object.hasOwn(raw, piece)),
      );
    }
  }
  return out;
}

const ALTERNATIVES_MAX = 100;

/**
 * A requirement that names a split scheme is met by any of its pieces, so it becomes one alternative for each. The product is
 * bounded: a card must not make its reader build a list of any length.
 */
export function alternatives(requirements: readonly SecurityRequirement[], splits: Splits): readonly SecurityRequirement[] {
  if (splits.size === 0) return requirements;
  const out = requirements.flatMap((requirement) => expand(requirement, splits));
  return out.length > ALTERNATIVES_MAX ? tooMany() : out;
}

function expand(requirement: SecurityRequirement, splits: Splits): readonly SecurityRequirement[] {
  let out: readonly SecurityRequirement['schemes'][] = [{}];
  for (const [name, scopes] of Object.entries(requirement.schemes)) {
    const names = splits.get(name) ?? [name];
    if (out.length * names.length > ALTERNATIVES_MAX) return tooMany();
    out = out.flatMap((schemes) => names.map((piece) => ({ ...schemes, [piece]: scopes })));
  }
  return out.map((schemes) => ({ schemes }));
}

function tooMany(): never {
  return fail('security', `must have at most ${ALTERNATIVES_MAX} alternatives`);
}
