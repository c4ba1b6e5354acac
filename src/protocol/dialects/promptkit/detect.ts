import type { Confidence, Hints } from '../dialect.ts';
import { isRaw } from '../shared/read.ts';

/** Paths of others: agents of the official SDKs listen on `/a2a/jsonrpc`, Cortex on `/api/a2a`. */
const FOREIGN_PATH = /\/(?:a2a\/jsonrpc|api\/a2a)\/?$/;

/**
 * 0.3 has the same method names, but 0.3 has `kind` on every message and part, and PromptKit never has.
 */
export function detect(hints: Hints): Confidence {
  if (hints.path !== undefined && FOREIGN_PATH.test(hints.path)) return 'no';
  switch (hints.method) {
    case 'tasks/list':
      return isRoot(hints) ? 'no' : 'shape';
    case 'tasks/subscribe':
      return 'shape';
    case 'tasks/get':
    case 'tasks/cancel':
      // Its client sends no `A2A-Version`.
      return hints.path === '/a2a' && hints.version === undefined ? 'mount' : 'grammar';
    case 'message/send':
    case 'message/stream':
      return detectMessage(isRaw(hints.params) ? hints.params.message : undefined);
    default:
      return 'no';
  }
}

/** Its client always calls `/a2a`. A list on `/` comes from a client of 0.3: Go's has the method. */
function isRoot({ path }: Hints): boolean {
  return path === '/';
}

/** PromptKit's parts are flat and have no `kind` or `type`. */
function detectMessage(message: unknown): Confidence {
  if (!isRaw(message) || !Array.isArray(message.parts)) return 'grammar';
  const parts: readonly unknown[] = message.parts;
  if ([message, ...parts].some((value) => isRaw(value) && ('kind' in value || 'type' in value))) return 'no';
  return parts.length > 0 && parts.every(isFlat) ? 'shape' : 'grammar';
}

function isFlat(part: unknown): boolean {
  return isRaw(part) && ['text', 'raw', 'url', 'data', 'metadata'].some((member) => member in part) && !('file' in part);
}
