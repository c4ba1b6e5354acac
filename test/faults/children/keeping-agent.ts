import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgent } from '#agents';
import type { Agent } from '#protocol';

const folder = process.env['KEPT_FOLDER'] ?? '.';

/** Keeps a file for each conversation on its machine. `wait` works until it is stopped, any other text is echoed. */
const keeping: Agent = {
  ...defineAgent({
    name: 'keeping',
    description: 'Keeps files of its own.',
    open: (contextId) => ({ contextId }),
    run: async (turn) => {
      await writeFile(join(folder, turn.contextId), turn.text);
      if (turn.text.includes('wait')) await sleep(600_000, undefined, { signal: turn.signal });
      return turn.text;
    },
  }),
  forget: ({ contextId }) => rm(join(folder, contextId), { force: true }),
};

// biome-ignore lint/style/noDefaultExport: `parley serve FILE` takes the default export
export default keeping;
