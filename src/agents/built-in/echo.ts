import type { Agent } from '#protocol';
import { defineAgent } from '../define.ts';

const ANYTHING = ['text/plain', 'application/json', '*/*'];

/** An agent that returns every message unchanged, for tests of clients. */
export function createEcho(): Agent {
  return defineAgent({
    name: 'echo',
    description: 'Gives back what it is sent: one artifact with the parts of the message, unchanged.',
    inputModes: ANYTHING,
    outputModes: ANYTHING,
    recovery: 'retry',
    run: (turn) => turn.parts,
  });
}
