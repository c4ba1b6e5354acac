import { Readable } from 'node:stream';
import { parsePath, routesAt } from '../../routes/routes.ts';
import type { OutsideRequest } from './outside.ts';

/** Routes whose requests are not recognised when they come twice. */
const NOT_TWICE: ReadonlySet<string> = new Set(['admin', 'mcp', 'chat', 'responses', 'conversations', 'agUi']);
const NEW_WEBHOOK = /push/i;
const METHOD = /"method"\s*:\s*"([^"\\]{1,100})"/;

/**
 * Whether a request may be sent to the next owner although the last one may have done it. Sends carry a key, so that they run once. A webhook
 * without an id would be added twice.
 */
export function canRepeat({ method, target, body }: Pick<OutsideRequest, 'method' | 'target' | 'body'>): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return true;
  if (body instanceof Readable) return false;
  const path = parsePath(target.split('?')[0] ?? '/');
  if (routesAt(path).some(({ name }) => NOT_TWICE.has(name))) return false;
  const called = body === undefined ? undefined : METHOD.exec(Buffer.from(body).toString('latin1'))?.[1];
  return !NEW_WEBHOOK.test(called ?? path.path);
}
