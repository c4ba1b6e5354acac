import { isLoopback } from './host-origin.ts';

export interface Exposure {
  readonly host: string;
  readonly isSocket: boolean;
  readonly hasAuth: boolean;
  /** Of our own, or of a proxy that nobody comes around. */
  readonly hasTls: boolean;
}

/** Decision 11: whoever reaches an open port commands the agent behind it. What is missing, or undefined. */
export function exposureProblem({ host, isSocket, hasAuth, hasTls }: Exposure): string | undefined {
  if (isSocket || isLoopback(host)) return undefined;
  if (!hasAuth) return `${host} can be reached by others, and nothing asks them who they are: give auth (or a gate), or serve on 127.0.0.1`;
  if (hasTls) return undefined;
  return `${host} can be reached by others, and credentials would cross the network for all to read: give tls, or say insecureBehindProxy if a proxy in front speaks TLS`;
}

export function isPrivate(host: string, socket: string | undefined): boolean {
  return socket !== undefined || isLoopback(host);
}
