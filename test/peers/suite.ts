import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { CONVERSATIONS } from './conversations.ts';
import type { Talk } from './talk.ts';

const AGENT = new URL('agent.ts', import.meta.url).pathname;

export interface PeerClient {
  /** As docs/interop.md names it: `Python a2a-sdk 1.3.0, JSON-RPC`. */
  readonly title: string;
  /** Undefined: it could not be installed. */
  readonly talk: ((url: string) => Talk) | undefined;
  /** Conversations that the peer itself can't have, with the reason. */
  readonly except?: Readonly<Record<string, string>>;
}

/** Their client, our server: every conversation, each with a new client. */
export function describeClient({ title, talk, except = {} }: PeerClient): void {
  if (talk === undefined) {
    describe(`their client: ${title} [needs its package]`, () => void it.skip('is left out'));
    return;
  }
  describe(`their client: ${title}`, () => {
    let node: Parley;
    beforeAll(async () => {
      node = await parleyServe({ args: [AGENT, '--memory'] });
    });
    afterAll(() => node.stop());
    for (const { id, title: what, run } of CONVERSATIONS) {
      if (except[id] !== undefined) continue;
      it(what, async () => {
        const side = talk(node.url);
        try {
          await run(side);
        } finally {
          await side.close();
        }
      });
    }
  });
}
