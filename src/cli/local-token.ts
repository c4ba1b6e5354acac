import type { Authenticator } from '#client';
import type { AgentCard } from '#protocol';
import { runningNodes } from '../server/adapters/running-nodes.ts';
import { authFolder, readToken } from '../server/adapters/secret-files.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The token of this machine, only for nodes that this user runs on loopback: any other program that listens on a port may belong to
 * another user and must not get it. Undefined: there is no such node, or no node has needed a token yet.
 */
export function localToken(url: string, env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const at = URL.parse(/^https?:\/\//.test(url) ? url : `http://${url}`);
  if (at === null || !LOOPBACK.test(at.hostname)) return undefined;
  const folder = authFolder(env['PARLEY_AUTH_FOLDER'] || undefined, { env });
  const isOurs = runningNodes(folder).some(({ url: own }) => /^https?:/.test(own) && portOf(new URL(own)) === portOf(at));
  return isOurs ? readToken(folder) : undefined;
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}

/** Sends the token only to an agent whose card asks for one, or that has refused a call without one. */
export function localAuth(token: string): Authenticator {
  let isWanted = false;
  return {
    present: (card) => (isWanted || asksForBearer(card) ? { headers: { Authorization: `Bearer ${token}` } } : {}),
    refresh: async () => {
      const isNews = !isWanted;
      isWanted = true;
      return isNews;
    },
  };
}

/** Whether a card has a scheme that takes a bearer token. */
export function asksForBearer(card: AgentCard | undefined): boolean {
  return (card?.securityRequirements ?? []).some(({ schemes }) =>
    Object.keys(schemes).some((name) => card?.securitySchemes?.[name]?.httpAuthSecurityScheme?.scheme.toLowerCase() === 'bearer'),
  );
}
