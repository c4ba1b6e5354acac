import { defineAgent } from '#agents';
import type { Agent } from '#protocol';

/** An agent with the name of the built-in `script`. The control of R6 serves it at one of its nodes. */
const other: Agent = defineAgent({ name: 'script', description: 'Another agent of this name.', run: () => 'another agent' });

// biome-ignore lint/style/noDefaultExport: `parley serve FILE` takes the default export
export default other;
