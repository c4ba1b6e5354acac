import { afterAll, beforeAll, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { CONVERSATIONS } from './conversations.ts';
import { ourTalk } from './our-talk.ts';
import type { ServedPeer } from './serve-peer.ts';
import { servePeer } from './serve-peer.ts';
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
  const open = talk ?? missing;
  suiteNeeding('its package', talk !== undefined, `their client: ${title}`, () => {
    let node: Parley;
    beforeAll(async () => {
      node = await parleyServe({ args: [AGENT, '--memory'] });
    });
    afterAll(() => node.stop());
    for (const { id, title: what, run } of CONVERSATIONS) {
      if (except[id] !== undefined) continue;
      it(what, async () => {
        const side = open(node.url);
        try {
          await run(side);
        } finally {
          await side.close();
        }
      });
    }
  });
}

export interface PeerServer {
  readonly title: string;
  /** The command that serves on a port and prints `ready`. Undefined: it could not be installed. */
  readonly command: ((port: number) => readonly string[]) | undefined;
  readonly except?: Readonly<Record<string, string>>;
}

/** Our client, their server: directly, and through a proxy of ours that re-publishes it. */
export function describeServer({ title, command, except = {} }: PeerServer): void {
  suiteNeeding('its package', command !== undefined, `their server: ${title}`, () => {
    let server: ServedPeer;
    let proxy: Parley;
    beforeAll(async () => {
      server = await servePeer(command ?? missing);
      proxy = await parleyServe({ command: ['proxy', server.url], args: ['--memory'] });
    });
    afterAll(async () => {
      await proxy.stop();
      await server.stop();
    });
    for (const { id, title: what, run } of CONVERSATIONS) {
      if (except[id] !== undefined) continue;
      it(what, async () => run(await ourTalk(server.url, false)));
      it(`${what}, through parley proxy`, async () => run(await ourTalk(proxy.url, true)));
    }
  });
}

function missing(): never {
  throw new Error('the peer could not be installed');
}
