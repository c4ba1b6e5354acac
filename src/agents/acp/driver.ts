import type { Driver } from '../run/driver.ts';

/** How an agent that speaks the Agent Client Protocol is started. */
export interface AcpLaunch extends Omit<Driver, 'run' | 'edits' | 'resumes' | 'cancelMs'> {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What has to be done after a run for it to find the session again. */
  readonly keepSession?: (session: string) => Promise<void>;
}

/** After `session/cancel`, the time to end in good order. */
const CANCEL_MS = 1000;

export function acpDriver({ argv, env, keepSession, ...rest }: AcpLaunch): Driver {
  return {
    ...rest,
    ...{ edits: true, resumes: true, model: true, cancelMs: CANCEL_MS },
    run: async function* (job) {
      let session: string | undefined;
      try {
        const child = job.start(argv, env);
        // Loaded with the first run: most nodes never speak it, and its schemas are many.
        const { runAcp } = await import('./conversation.ts');
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
