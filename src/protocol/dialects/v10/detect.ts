import type { Confidence, Hints } from '../dialect.ts';
import { isRaw } from '../shared/read.ts';

const PASCAL = /^[A-Z][A-Za-z]+$/;

/**
 * Pascal-case methods are 1.0's. `ROLE_*` tells it from Cortex, which sends the same version header.
 */
export function detect(hints: Hints): Confidence {
  if (hints.method === undefined || !PASCAL.test(hints.method)) return 'no';
  const message = isRaw(hints.params) ? hints.params.message : undefined;
  const role = isRaw(message) ? message.role : undefined;
  return typeof role === 'string' && role.startsWith('ROLE_') ? 'shape' : 'grammar';
}
