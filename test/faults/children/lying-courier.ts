import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createScript } from '../../../src/agents/built-in/script.ts';
import { openSqliteStore } from '../../../src/engine/adapters/sqlite.ts';
import { serve } from '../../../src/server/adapters/node.ts';
import { createOutbound } from '../../../src/server/adapters/outbound.ts';

/** The control of W8: a server that marks a delivery as done and sends it a moment later. It has the arguments of `parley serve`. */
const DIR = process.argv[process.argv.indexOf('--data') + 1] ?? '';
const LATER_MS = 500;
mkdirSync(DIR, { recursive: true });
const store = openSqliteStore(join(DIR, 'tasks.db'), { ballastBytes: 0 });
const honest = createOutbound({ allowLoopbackTargets: true });

const { url } = await serve(createScript(), {
  port: 0,
  store,
  otel: false,
  outbound: {
    ...honest,
    fetchWithin: (limits) => async (request) => {
      const kept = new Request(request);
      setTimeout(
        () =>
          void honest
            .fetchWithin(limits)(kept)
            .catch(() => undefined),
        LATER_MS,
      );
      return new Response(null, { status: 204 });
    },
  },
});
process.stdout.write(`${JSON.stringify({ event: 'ready', url, agents: ['script'] })}\n`);
