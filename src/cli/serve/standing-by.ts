import type { ServeConfiguredOptions } from '../../server/adapters/serve-configured.ts';
import type { ServeFlags } from './flags.ts';
import type { StopSignal } from './signals.ts';
import { untilSignal } from './signals.ts';

/** A node that may stand by before it serves. */
export interface Standing {
  readonly hooks: NonNullable<ServeConfiguredOptions['standby']>;
  readonly stopped: Promise<StopSignal>;
  /** Takes what the start has thrown. Returns if the node was stopped while it stood by, and throws everything else. */
  readonly ended: (thrown: unknown) => undefined;
}

/** Prints where a node stands by, and ends it on a signal. */
export function standBy({ json }: Pick<ServeFlags, 'json'>): Standing {
  const stopping = new AbortController();
  const stopped = untilSignal();
  void stopped.then((signal) => stopping.abort(signal));
  return {
    stopped,
    hooks: {
      signal: stopping.signal,
      onStandby: (url) => {
        process.stdout.write(
          json ? `${JSON.stringify({ event: 'standby', url })}\n` : `Stands by at ${url}: another node serves, and gets the requests.\n`,
        );
      },
    },
    ended: (thrown) => {
      if (!stopping.signal.aborted) throw thrown;
      process.stdout.write(json ? '{"event":"stopped"}\n' : 'Stopped.\n');
      return undefined;
    },
  };
}
