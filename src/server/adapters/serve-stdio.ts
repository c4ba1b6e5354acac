import type { Channel } from '#bindings';
import { serveStdio } from '#bindings';
import { authenticateAsLocal } from '../access/authentication/caller.ts';
import type { Settings } from '../config/settings.ts';
import { createHandler } from '../handler.ts';
import type { Log } from '../observability/log.ts';
import type { ServingOptions } from '../options.ts';
import { dataFolder, openData } from './data-folder.ts';
import type { FoundAgent } from './serve-configured.ts';

/** Options of `serveOnStdio`. */
export interface StdioServing {
  readonly log: Log;
  /** Aborts serving before the input ends. */
  readonly signal: AbortSignal;
  readonly aroundRun: NonNullable<ServingOptions['aroundRun']>;
}

/**
 * Serves the parent process on standard input and output. There is no socket, so the only caller is the
 * process that started this one. Resolves when the input has ended, every request has its response, and
 * the store is closed.
 */
export async function serveOnStdio(
  found: readonly FoundAgent[],
  settings: Settings,
  { log, signal, aroundRun }: StdioServing,
): Promise<void> {
  const { card, publisher, idempotency, versionRequired, limits } = settings;
  const kept: Partial<Awaited<ReturnType<typeof openData>>> = settings.memory
    ? {}
    : await openData(dataFolder(settings.data), log, settings);
  const handler = createHandler({
    agents: found.map(({ agent }) => agent),
    authenticate: authenticateAsLocal, // the caller started this process, so it could run any command without it
    ...{ card, publisher, idempotency, versionRequired, limits, log, aroundRun },
    missingAgents: 'wait',
    ...kept,
  });
  const stop = (): void => void process.stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await handler.ready;
    await serveStdio(pipes(), handler.fetch, { signal });
  } finally {
    await handler.close();
  }
}

/** Standard input and output as a channel. */
function pipes(): Channel {
  return {
    input: input(),
    write: (text) =>
      new Promise((resolve) => {
        process.stdout.write(text, () => resolve());
      }),
  };
}

/** An input that breaks off counts as ended. */
async function* input(): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of process.stdin) yield chunk as Uint8Array;
  } catch {
    // The input broke off, see above.
  }
}
