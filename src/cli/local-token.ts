import { readFileSync } from 'node:fs';
import type { Authenticator } from '#client';
import type { AgentCard } from '#protocol';
import { authFolder, readToken } from '../server/adapters/node-secrets.ts';

/** The token of this machine, for nodes on loopback alone: nobody else is to see it. Undefined: none was made yet. */
export function localToken(url: string, env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const full = /^https?:\/\//i.test(url) ? url : `http://${url}`;
  if (!URL.canParse(full)) return undefined;
  const { hostname, port, protocol } = new URL(full);
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)) return undefined;
  if (!isOurPort(Number(port || (protocol === 'https:' ? 443 : 80)))) return undefined;
  return readToken(authFolder(env['PARLEY_AUTH_FOLDER'] || undefined, { env }));
}

/** Shown to an agent whose card asks for a credential, or that has refused a call without one. An agent that wants none is told none. */
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

export function asksForBearer(card: AgentCard | undefined): boolean {
  return (card?.securityRequirements ?? []).some(({ schemes }) =>
    Object.keys(schemes).some((name) => card?.securitySchemes?.[name]?.httpAuthSecurityScheme?.scheme.toLowerCase() === 'bearer'),
  );
}

/**
 * Other users of the machine can listen on loopback too, and would be given the token. Where the system tells whose a port is, it
 * must be ours or root's. `tables`: proc_net_tcp(5).
 */
export function isOurPort(port: number, uid: number | undefined = process.getuid?.(), tables: readonly string[] = listening()): boolean {
  if (uid === undefined) return true;
  const owners = tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', , state, , , , owner] = line.trim().split(/\s+/);
      return state === LISTEN && Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16) === port ? [Number(owner)] : [];
    }),
  );
  return owners.every((owner) => owner === uid || owner === 0);
}

const LISTEN = '0A';

function listening(): readonly string[] {
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => {
    try {
      return [readFileSync(path, 'utf8')];
    } catch {
      return []; // not on Linux, or not for us to see
    }
  });
}
