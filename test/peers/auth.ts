import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { run } from '../cli/run.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { must, whole } from './conversations.ts';
import { ourTalk } from './our-talk.ts';
import type { ServedPeer } from './serve-peer.ts';
import { servePeer } from './serve-peer.ts';
import type { PeerServer } from './suite.ts';
import type { Talk } from './talk.ts';

const AGENT = new URL('agent.ts', import.meta.url).pathname;

/** A client that is given a credential in the way of its SDK. */
export interface AuthClient {
  /** The title of its row (suite.ts). */
  readonly title: string;
  /** Undefined: it could not be installed. */
  readonly talk: ((url: string, credential?: string) => Talk) | undefined;
  /** The form of the card that it reads, if it can't read the usual one (docs/cards.md). */
  readonly cardForm?: string;
  /** What it says where it hides the refusal. docs/interop.md has the exchanges. */
  readonly hides?: { readonly send?: RegExp; readonly stream?: RegExp };
}

/** What a refused caller reads, in the words of its SDK, of HTTP or of gRPC. */
const REFUSED = /401|unauthenticated|authentication (is required|failed)|credential is not valid|needs credentials/i;

/** Their clients, and a node of ours that demands an API key. Called once in a file, because its clients share the node. */
export function describeAuth(clients: readonly AuthClient[]): void {
  let folder = '';
  let node: Parley;
  let key = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-peers-'));
    const { out, err } = await run(['keys', 'create', 'peer', '--auth-folder', folder, '--json']);
    assert.equal(err, '');
    ({ key } = JSON.parse(out) as { readonly key: string });
    node = await parleyServe({ args: [AGENT, '--memory', '--require-auth', '--auth-folder', folder] });
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const { title, talk, cardForm, hides = {} } of clients) {
    suiteNeeding('its package', talk !== undefined, `their client: ${title}`, () => {
      const open = (credential?: string): Talk => {
        const query = cardForm === undefined ? '' : `?card=${cardForm}`;
        return must(talk, 'the peer is installed')(`${node.url}${query}`, credential);
      };
      it('a call without a credential, and with a wrong one, is refused', async () => {
        for (const credential of [undefined, 'wrong']) {
          await having(open(credential), async (each) => {
            await assert.rejects(each.send({ text: 'hello there' }), hides.send ?? REFUSED);
            await assert.rejects(each.stream({ text: 'hello there' }), hides.stream ?? REFUSED);
          });
        }
      });
      it('a send, a stream and a get with an API key', () => having(open(key), answered));
    });
  }
}

const TOKEN = 'the-token-of-the-peer';

/** Our client, command line and proxy, and a server of theirs that demands a token. */
export function describeDemanding({ title, command, env = {} }: PeerServer): void {
  suiteNeeding('its package', command !== undefined, `their server: ${title}`, () => {
    let server: ServedPeer;
    /** The port of gRPC is another origin than the card's. */
    let origin = '';
    beforeAll(async () => {
      server = await servePeer(must(command, 'the peer is installed'), { ...env, PEER_TOKEN: TOKEN });
      origin = env['PEER_BINDING'] === 'GRPC' ? `http://${await grpcAddress(server.url)}` : server.url;
    });
    afterAll(() => server.stop());
    const talkWith = (bearer?: string): Promise<Talk> =>
      ourTalk(server.url, false, bearer === undefined ? {} : { auth: { bearer }, trustOrigins: [origin] });
    const ask = (bearer?: string) =>
      run(['ask', server.url, 'hello there', '--trust-origin', origin], { env: bearer === undefined ? {} : { A2ACLI_BEARER: bearer } });

    it('a call without a token, and with a wrong one, is refused', async () => {
      const isRefusal = (error: { readonly kind?: string }): boolean => /^unauthenticated$/i.test(error.kind ?? '');
      for (const bearer of [undefined, 'wrong']) {
        const talk = await talkWith(bearer);
        await assert.rejects(talk.send({ text: 'hello there' }), isRefusal);
        await assert.rejects(talk.stream({ text: 'hello there' }), isRefusal);
        const { code, out, err } = await ask(bearer);
        assert.notEqual(code, 0);
        assert.equal(out, '');
        assert.match(err, REFUSED);
      }
    });
    it('a send, a stream and a get with the token', async () => {
      await answered(await talkWith(TOKEN));
      const { code, out, err } = await ask(TOKEN);
      assert.equal(code, 0, err);
      assert.match(out, /echo: hello there/);
    });
  });
}

/** Where the card's only interface is: `host:port`. */
async function grpcAddress(url: string): Promise<string> {
  const response = await fetch(`${url}/.well-known/agent-card.json`);
  const card = (await response.json()) as { readonly url?: string; readonly supportedInterfaces?: readonly { readonly url: string }[] };
  return card.supportedInterfaces?.[0]?.url ?? card.url ?? '';
}

async function having(talk: Talk, use: (talk: Talk) => Promise<void>): Promise<void> {
  try {
    await use(talk);
  } finally {
    await talk.close();
  }
}

async function answered(talk: Talk): Promise<void> {
  const sent = await talk.send({ text: 'hello there' });
  assert.equal(whole(sent), 'echo: hello there');
  const events = await talk.stream({ text: 'chunks 3' });
  assert.equal(events.map(whole).join(''), '1 2 3 ');
  const got = await talk.get(must(sent.taskId, 'the answer is a task'));
  assert.equal(whole(got), 'echo: hello there');
}
