import { authFolder, readToken } from '../server/adapters/node-secrets.ts';

/** The token of this machine, for nodes on loopback alone: nobody else is to see it. Undefined: none was made yet. */
export function localToken(url: string, env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const { hostname } = new URL(url);
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)) return undefined;
  return readToken(authFolder(env['PARLEY_AUTH_FOLDER'] || undefined, { env }));
}
