import type { Confidence, Hints } from '../dialect.ts';
import { isRaw } from '../shared/read.ts';

const OWN_PATH = /\/api\/a2a\/?$/;
/** Cards name this address for 1.0, so Pascal-case methods are 1.0's there. */
const OFFICIAL_PATH = /\/a2a\/jsonrpc\/?$/;

/**
 * Cortex has 1.0's methods and sends 1.0's version header. Roles in lower case tell it apart. Without a
 * role, 1.0 is as likely and comes first in the registry. A method that Cortex lacks is never detected
 * as Cortex, or other clients could not subscribe to a task that was made in this dialect.
 */
export function detect(hints: Hints, methods: ReadonlySet<string>): Confidence {
  const { path, method, params } = hints;
  if (path !== undefined && OWN_PATH.test(path)) return method?.includes('/') === true ? 'no' : 'path';
  if (method === undefined || !methods.has(method) || (path !== undefined && OFFICIAL_PATH.test(path))) return 'no';
  if (method === 'GetAgentCard') return 'shape';
  const message = isRaw(params) ? params.message : undefined;
  const role = isRaw(message) ? message.role : undefined;
  return role === 'user' || role === 'agent' ? 'shape' : 'grammar';
}
