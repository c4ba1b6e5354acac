import { join } from 'node:path';
import type { Settings } from '../config/resolve.ts';
import { ConfigError } from '../config/values.ts';
import { isLoopback } from '../guard.ts';
import type { Log } from '../log.ts';
import { createLog } from '../log.ts';
import type { McpMount, ServingOptions } from '../options.ts';
import type { AgentLike } from '../served.ts';
import type { Served } from './node.ts';
import { serve } from './node.ts';
import { dataHome, folderFor, openData } from './node-data.ts';

/** An agent, and what it was found by: a built-in name, or the path of a file. */
export interface FoundAgent {
  readonly agent: AgentLike;
  readonly source: string;
}

export interface Configured {
  readonly log: Log;
  readonly onBroken?: (cause: unknown) => void;
  /** Answers `/mcp`. */
  readonly mcp?: McpMount;
  readonly carrier?: NonNullable<ServingOptions['carrier']>;
}

/** Serves as configured: where tasks are kept is opened first, and closed again if the rest fails. */
export async function serveConfigured(
  found: readonly FoundAgent[],
  settings: Settings,
  { log, onBroken, mcp, carrier }: Configured,
): Promise<Served> {
  checkHost(settings);
  const { port, host, url, allowedHosts, allowedOrigins, card, publisher, idempotency, versionRequired, limits } = settings;
  const { allowedTargets, allowLoopbackTargets } = settings;
  const kept: Partial<Awaited<ReturnType<typeof openData>>> = settings.memory ? {} : await openData(folderOf(found, settings), log);
  try {
    return await serve(
      found.map(({ agent }) => agent),
      {
        ...{ port, host, allowedHosts, allowedOrigins, card, publisher, idempotency, versionRequired, limits, log },
        ...{ allowedTargets, allowLoopbackTargets },
        ...kept,
        ...(url === undefined ? {} : { url }),
        ...(onBroken === undefined ? {} : { onBroken }),
        ...(mcp === undefined ? {} : { mcp }),
        ...(carrier === undefined ? {} : { carrier }),
      },
    );
  } catch (thrown) {
    await kept.store?.close();
    throw thrown;
  }
}

/** Where the tasks of these agents are kept, unless in memory. */
export function folderOf(found: readonly FoundAgent[], { data }: Settings): string {
  return data ?? join(dataHome(process.env, process.platform), folderFor(found.map(({ source }) => source)));
}

/** Decision 11: whoever reaches an open socket commands the agent, so it must be one that only this machine reaches. */
function checkHost({ host, auth }: Settings): void {
  if (isLoopback(host)) return;
  const reason = auth ? 'serving to others needs authentication, which is not built yet' : '--no-auth is for loopback only';
  throw new ConfigError(`${host} can be reached by others: ${reason}`);
}

/** To standard error; the tokens that the configuration holds are not in it. */
export function logFor({ log, remoteAgents }: Settings, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const secrets = Object.values(remoteAgents).flatMap(({ authToken }) => (authToken === undefined ? [] : [authToken]));
  return createLog({ level: log, write, secrets });
}
