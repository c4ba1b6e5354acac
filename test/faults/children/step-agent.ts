import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgent } from '#agents';
import type { Agent } from '#protocol';

const folder = process.env['STEPS_FOLDER'] ?? '.';

/** Writes a line to `ran` when a run begins and when it ends. A message with `wait` ends when the file `open` is there. */
const steps: Agent = defineAgent({
  name: 'steps',
  description: 'Works on a step of a workflow.',
  recovery: 'retry',
  run: async (turn) => {
    appendFileSync(join(folder, 'ran'), `begin ${turn.text}\n`);
    while (turn.text.includes('wait') && !existsSync(join(folder, 'open'))) await sleep(20, undefined, { signal: turn.signal });
    appendFileSync(join(folder, 'ran'), `end ${turn.text}\n`);
    return turn.text;
  },
});

// biome-ignore lint/style/noDefaultExport: `parley serve FILE` takes the default export
export default steps;
