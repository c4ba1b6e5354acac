import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgent } from '#agents';
import type { Agent } from '#protocol';

/** `poison after=MS` kills the process, `wait` waits, `slow MS TEXT` echoes after a while, and any other text is echoed. */
const poison: Agent = defineAgent({
  name: 'poison',
  description: 'Kills its process.',
  recovery: 'retry',
  run: async (turn) => {
    const after = /^poison after=(\d+)$/.exec(turn.text)?.[1];
    if (turn.text === 'wait') await sleep(600_000, undefined, { signal: turn.signal });
    const slow = /^slow (\d+) /.exec(turn.text)?.[1];
    if (slow !== undefined) await sleep(Number(slow));
    if (after === undefined) return turn.text;
    if (after !== '0') await sleep(Number(after));
    return process.abort();
  },
});

// biome-ignore lint/style/noDefaultExport: `parley serve FILE` takes the default export
export default poison;
