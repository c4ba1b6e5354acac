import type { Driver } from '../run/driver.ts';

/** How an agent that speaks the Agent Client Protocol is started. */
export interface AcpLaunch extends Omit<Driver, 'run' | 'edits' | 'resumes' | 'cancelMs'> {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** Environment variables to set, besides those that the driver passes on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called after a run, so that the agent finds its session again. */
  readonly keepSession?: (session: string) => Promise<void>;
}

/** How long the agent may take to end after `session/cancel`. */
const CANCEL_MS = 1000;

const MISSING =
  'The Agent Client Protocol needs the package @agentclientprotocol/sdk, which is not installed. Type: npm install @agentclientprotocol/sdk';

/**
 * Loaded on the first run: few nodes use the protocol, and its schemas are large. Undefined if the
 * optional SDK is not installed.
 */
async function loadConversation(): Promise<typeof import('./conversation.ts') | undefined> {
  try {
    return await import('./conversation.ts');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** A driver for any program that speaks the Agent Client Protocol on its standard input and output. */
export function acpDriver({ argv, env, keepSession, ...rest }: AcpLaunch): Driver {
  return {
    ...rest,
    ...{ edits: true, resumes: true, model: true, cancelMs: CANCEL_MS },
    run: async function* (job) {
      let session: string | undefined;
      try {
        const acp = await loadConversation();
        if (acp === undefined) {
          yield { kind: 'error', message: MISSING };
          return;
        }
        const child = job.start(argv, env);
        const { runAcp } = acp;
        for await (const event of runAcp(job, child, argv[0] ?? '')) {
          if (event.kind === 'init') session = event.sessionId;
          yield event;
        }
      } finally {
        if (session !== undefined) await keepSession?.(session);
      }
    },
  };
}
