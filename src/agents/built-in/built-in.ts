import type { Agent } from '#protocol';
import type { ConformanceOptions } from './conformance.ts';
import { createConformance } from './conformance.ts';
import { createDemo } from './demo.ts';
import { createEcho } from './echo.ts';
import { createScript } from './script.ts';

export interface BuiltInAgent {
  /** One line for the list of agents. */
  readonly description: string;
  create(options?: ConformanceOptions): Agent;
}

/** Agents that need nothing but a name: no key, no network, no file. */
export const builtInAgents: ReadonlyMap<string, BuiltInAgent> = new Map<string, BuiltInAgent>([
  [
    'demo',
    { description: 'a guide to talk to: streams, asks for an approval, makes files, shows what Parley does', create: () => createDemo() },
  ],
  ['echo', { description: 'gives every message back as one artifact', create: createEcho }],
  ['script', { description: 'obeys directives such as chunks=5 delay=200, ask or fail: for tests and load', create: createScript }],
  ['conformance', { description: 'what conformance kits expect of an agent under test', create: createConformance }],
]);
