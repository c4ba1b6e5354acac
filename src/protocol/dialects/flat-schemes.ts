import type { Json, JsonObject } from '../json.ts';
import { isRaw } from './shared/read.ts';
import { KIND_OF_TYPE, wrappedKinds } from './shared/security.ts';

/**
 * A card's JSON with each flat security scheme put into 1.0's wrapper. A signature covers the 1.0 form,
 * even of a card that was served with flat schemes.
 */
export function wrapFlatSchemes(card: JsonObject): JsonObject {
  const schemes = card.securitySchemes ?? card.security_schemes;
  if (!isRaw(schemes)) return card;
  return { ...card, securitySchemes: Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, wrapFlat(scheme)])) };
}

function wrapFlat(scheme: Json): Json {
  if (!isRaw(scheme) || wrappedKinds(scheme).length > 0) return scheme;
  const kind = KIND_OF_TYPE.get(scheme.type);
  return kind === undefined ? scheme : { [kind]: { ...scheme, ...(scheme.in === undefined ? {} : { location: scheme.in }) } };
}
