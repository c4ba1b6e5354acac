import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpRequest } from '#bindings';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { AuthMethod, CredentialDenial } from '../access/authentication/auth-method.ts';

/** What a trusted user may do. Not `admin`: the token of the machine is for that. */
const SCOPES = ['tasks:*', 'push:write', 'card:extended', 'executor:*'];
/** Headers that browsers send and web pages can't leave out, and headers of proxies: both speak for somebody else. */
const FOREIGN = ['origin', 'referer', 'cookie', 'sec-fetch-site', 'sec-fetch-mode', 'sec-ch-ua', 'forwarded', 'x-forwarded-for', 'via'];
const ESTABLISHED = '01';

/**
 * Accepts callers without a credential whose program runs under the user of this node, on a loopback connection (`trustLocalUsers`). Linux
 * only. Web pages run under the same user, so a request with a header that browsers add is refused. A program in another process namespace is
 * refused too: a coding agent in the sandbox must not give itself work or approvals.
 */
export function localUserAuth(uid: number): AuthMethod {
  return {
    name: 'local-user',
    schemes: {},
    authenticate: (request) => {
      if (request.header('authorization') !== undefined || request.header('x-api-key') !== undefined) return undefined;
      const connection = request.peer?.connection;
      if (connection === undefined) return undefined;
      const problem = foreignIn(request) ?? strangerAt(connection, uid);
      return problem === undefined ? { principal: { id: LOCAL_PRINCIPAL.id, scopes: SCOPES } } : denied(problem);
    },
  };
}

function denied(problem: string): CredentialDenial {
  return {
    reason: `not trusted as a local user: ${problem}`,
    message: `this node trusts local users, but ${problem}; send the token of the node`,
  };
}

function foreignIn(request: HttpRequest): string | undefined {
  const found = FOREIGN.find((name) => request.header(name) !== undefined);
  if (found !== undefined) return `the request has the header ${found}`;
  return /^mozilla\//i.test(request.header('user-agent') ?? '') ? 'the request comes from a browser' : undefined;
}

type Connection = NonNullable<NonNullable<HttpRequest['peer']>['connection']>;

/** Why the program at the other end is not trusted. */
function strangerAt({ remote, local }: Connection, uid: number): string | undefined {
  const [client, server] = [hexOf(remote), hexOf(local)];
  if (client === undefined || server === undefined) return 'the connection is not on loopback';
  const row = rowsOf(client.table).find(
    (columns) => columns[1] === client.text && columns[2] === server.text && columns[3] === ESTABLISHED,
  );
  if (row === undefined) return 'the program of the connection can’t be found';
  if (Number(row[7]) !== uid) return 'another user made the connection';
  return isOurNamespace(row[9] ?? '') ? undefined : 'the program runs in a sandbox or a container';
}

interface HexAddress {
  readonly table: 'tcp' | 'tcp6';
  readonly text: string;
}

/** A loopback address as /proc/net writes it: words of the address in the byte order of the machine, and the port. */
function hexOf({ address, port }: { readonly address: string; readonly port: number }): HexAddress | undefined {
  const end = port.toString(16).toUpperCase().padStart(4, '0');
  if (address === '::1') return { table: 'tcp6', text: `00000000000000000000000001000000:${end}` };
  const bytes = address.split('.').map(Number);
  if (bytes.length !== 4 || bytes[0] !== 127) return undefined;
  const hex = bytes.reverse().map((byte) => byte.toString(16).toUpperCase().padStart(2, '0'));
  return { table: 'tcp', text: `${hex.join('')}:${end}` };
}

function rowsOf(table: HexAddress['table']): readonly (readonly string[])[] {
  const lines = readFileSync(join('/proc/net', table), 'utf8').split('\n');
  return lines.slice(1).map((line) => line.trim().split(/\s+/));
}

/** Whether a process of our own process namespace holds the socket. A process that can't be seen counts as a stranger. */
function isOurNamespace(inode: string): boolean {
  const own = readlinkSync('/proc/self/ns/pid');
  return readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && holds(pid, `socket:[${inode}]`) && linkAt(`/proc/${pid}/ns/pid`) === own);
}

function holds(pid: string, socket: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkAt(`/proc/${pid}/fd/${fd}`) === socket);
  } catch {
    return false; // it has ended, or belongs to another user
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
