import type { Agent } from '#protocol';
import type { ConformanceOptions } from './conformance.ts';
import { createConformance } from './conformance.ts';
import { createDemo } from './demo.ts';
import { createEcho } from './echo.ts';
import { createScript } from './script.ts';

/** An agent that comes with Parley, as `parley serve NAME` starts it. */
export interface BuiltInAgent {
  /** One line for the list of agents. */
  readonly description: string;
  /** Creates the agent. Only `conformance` reads the options. */
  create(options?: ConformanceOptions): Agent;
}

/**
 * Agents that need no key, no network and no file, by name: `demo`, `echo`, `script`, `conformance`.
 *
 * ```ts
 * const agent = builtInAgents.get('echo')?.create();
 * ```
 */
export const builtInAgents: ReadonlyMap<string, BuiltInAgent> = new Map<string, BuiltInAgent>([
  [
    'demo',
    { description: 'a guide to talk to: streams, asks for an approval, makes files, shows what Parley does', create: () => createDemo() },
  ],
  ['echo', { description: 'gives every message back as one artifact', create: createEcho }],
  ['script', { description: 'obeys directives such as chunks=5 delay=200, ask or fail: for tests and load', create: createScript }],
  ['conformance', { description: 'what conformance kits expect of an agent under test', create: createConformance }],
]);
