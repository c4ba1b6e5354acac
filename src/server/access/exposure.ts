import { isLoopback } from './host-origin.ts';

/** Facts about a node that decide whether it is safe to start. */
export interface Exposure {
  readonly host: string;
  readonly isSocket: boolean;
  readonly hasAuth: boolean;
  /** The node has TLS, or a proxy in front has it and callers can't bypass the proxy. */
  readonly hasTls: boolean;
}

/**
 * Describes what a node that other machines can reach still lacks, or returns undefined. Anyone who
 * reaches an open port can use its agents.
 */
export function exposureProblem({ host, isSocket, hasAuth, hasTls }: Exposure): string | undefined {
  if (isSocket || isLoopback(host)) return undefined;
  if (!hasAuth)
    return `Other machines can reach ${host}, and callers are not authenticated: set auth (or authenticate), or serve on 127.0.0.1`;
  if (hasTls) return undefined;
  return `Other machines can reach ${host}, and credentials would cross the network unencrypted: set tls, or insecureBehindProxy if a proxy in front has TLS`;
}

/** Whether only this machine can reach the address. */
export function isPrivate(host: string, socket: string | undefined): boolean {
  return socket !== undefined || isLoopback(host);
}
