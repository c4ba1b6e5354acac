import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { A2AClient } from 'parley-a2a';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { ORIGIN_NOTE } from '#protocol';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import type { Conversation, World } from './conversations.ts';
import { CONVERSATIONS, SLOW } from './conversations.ts';
import { ourTalk } from './our-talk.ts';
import type { ServedPeer } from './serve-peer.ts';
import { servePeer } from './serve-peer.ts';
import type { Talk } from './talk.ts';

const AGENT = new URL('agent.ts', import.meta.url).pathname;

export interface PeerClient<T extends Talk = Talk> {
  /** As docs/interop.md names it: `Python a2a-sdk 1.3.0, JSON-RPC`. */
  readonly title: string;
  /** Undefined: it could not be installed. */
  readonly talk: ((url: string) => T | Promise<T>) | undefined;
  /** Conversations that the peer itself can't have, with the reason. */
  readonly except?: Readonly<Record<string, string>>;
  /** Conversations that only this peer has. */
  readonly also?: readonly Conversation<T>[];
  /** The file of another agent than `agent.ts`. */
  readonly agent?: string;
  /** Further flags of `parley serve`. */
  readonly serveFlags?: readonly string[];
  /** The long answer, where this peer reads it in its own way. */
  readonly slow?: Conversation<T>;
}

/** Their client, our server: every conversation, each with a new client. */
export function describeClient<T extends Talk>(peer: PeerClient<T>): void {
  const { title, talk, except = {}, also = [], slow = SLOW, agent = AGENT, serveFlags = [] } = peer;
  const open = talk ?? missing;
  suiteNeeding('its package', talk !== undefined, `their client: ${title}`, () => {
    let node: OurNode;
    beforeAll(async () => {
      // The addresses of notifications are on loopback here.
      node = await ourNode({ args: [agent, '--allow-loopback-targets', ...serveFlags] });
    });
    afterAll(() => node.stop());
    for (const { id, title: what, run } of [...CONVERSATIONS, ...also]) {
      if (except[id] !== undefined) continue;
      it(what, () => having(() => open(node.url), run, node));
    }
  });
  if (talk === undefined || except[slow.id] !== undefined) return;
  long.push({
    peer: `their client: ${title}`,
    title: slow.title,
    run: async (shared) => {
      const own = serveFlags.length === 0 ? undefined : await ourNode({ args: [agent, ...serveFlags] });
      await twice(() => having(() => talk(own?.url ?? shared), slow.run, {})).finally(() => own?.stop());
    },
  });
}

export interface PeerServer {
  readonly title: string;
  /** The command that serves on a port and prints `ready`. Undefined: it could not be installed. */
  readonly command: ((port: number) => readonly string[]) | undefined;
  readonly except?: Readonly<Record<string, string>>;
  readonly also?: readonly Conversation[];
  readonly env?: NodeJS.ProcessEnv;
  /** Instead of those that every peer has: for agents with a model. */
  readonly conversations?: readonly Conversation[];
  readonly slow?: Conversation;
  /** Further flags of `parley proxy`. */
  readonly proxyFlags?: string[];
  /** Its server drops the names of files. */
  readonly losesFileNames?: true;
}

/** A server that offers only this binding. The proxy calls a port of gRPC on this machine only with a flag. */
export function onlyOver(binding: string): Pick<PeerServer, 'env' | 'proxyFlags'> {
  return { env: { PEER_BINDING: binding }, ...(binding === 'GRPC' ? { proxyFlags: ['--allow-loopback-targets'] } : {}) };
}

/** A server that offers only gRPC. */
export const OVER_GRPC: Pick<PeerServer, 'env' | 'proxyFlags'> = onlyOver('GRPC');

/** Our client, their server: directly, and through a proxy of ours that re-publishes it. */
export function describeServer(peer: PeerServer): void {
  const {
    title,
    command,
    except = {},
    also = [],
    env = {},
    proxyFlags = [],
    losesFileNames,
    conversations = CONVERSATIONS,
    slow = SLOW,
  } = peer;
  const loss = losesFileNames === undefined ? {} : { losesFileNames };
  const talkTo = async (url: string, joinsText: boolean): Promise<Talk> => ({ ...(await ourTalk(url, joinsText)), ...loss });
  suiteNeeding('its package', command !== undefined, `their server: ${title}`, () => {
    let server: ServedPeer;
    let proxy: OurNode;
    beforeAll(async () => {
      server = await servePeer(command ?? missing, env);
      proxy = await ourNode({ command: ['proxy', server.url], args: proxyFlags });
    });
    afterAll(async () => {
      await proxy.stop();
      await server.stop();
    });
    for (const { id, title: what, needsRestart, run } of [...conversations, ...also]) {
      if (except[id] !== undefined) continue;
      if (needsRestart !== true) it(what, () => having(() => talkTo(server.url, false), run, { url: server.url }));
      it(`${what}, through parley proxy`, () =>
        having(() => talkTo(proxy.url, true), run, { ...proxy, untilSent: (task) => untilSent(proxy.url, task) }));
    }
  });
  if (command === undefined || except[slow.id] !== undefined) return;
  long.push({
    peer: `their server: ${title}`,
    title: slow.title,
    run: async () => {
      const server = await servePeer(command, env);
      const proxy = await ourNode({ command: ['proxy', server.url], args: proxyFlags });
      try {
        await Promise.all([
          twice(() => having(() => ourTalk(server.url, false), slow.run, {})),
          twice(() => having(() => ourTalk(proxy.url, true), slow.run, {})),
        ]);
      } finally {
        await proxy.stop();
        await server.stop();
      }
    },
  });
}

/** With the start of the peer, which can take most of a minute too. */
const LONG_MS_MAX = 240_000;
/** Conversations that wait for most of a minute. */
const long: { readonly peer: string; readonly title: string; readonly run: (url: string) => Promise<void> }[] = [];

/** Runs what takes long with all peers of a file at the same time. Called at the end of each file. */
export function describeLong(): void {
  if (long.length === 0) return;
  let node: OurNode;
  beforeAll(async () => {
    node = await ourNode({ args: [AGENT] });
  });
  afterAll(() => node.stop());
  for (const { peer, title, run } of long) {
    describe.concurrent(peer, () => {
      it.concurrent(title, () => run(node.url), LONG_MS_MAX);
    });
  }
}

async function having<T extends Talk>(open: () => T | Promise<T>, run: Conversation<T>['run'], world: World): Promise<void> {
  const talk = await open();
  try {
    await run(talk, world);
  } finally {
    await talk.close();
  }
}

async function untilSent(proxyUrl: string, task: string): Promise<void> {
  const client = await A2AClient.connect(proxyUrl);
  await eventually(async () => assert.ok((await client.get(task)).metadata?.[ORIGIN_NOTE], 'the proxy has not stored the id yet'));
}

async function twice(run: () => Promise<void>): Promise<void> {
  await Promise.all([run(), run()]);
}

/** A node of ours that can be killed and started again, with the same address and data. */
interface OurNode extends World {
  readonly url: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

async function ourNode({ command = ['serve'], args = [] }: { readonly command?: string[]; readonly args?: string[] }): Promise<OurNode> {
  const data = mkdtempSync(join(tmpdir(), 'parley-peers-'));
  const port = await freePort();
  const start = (): Promise<Parley> => parleyServe({ command, args: [...args, '--data', data, '--port', String(port)] });
  let node = await start();
  return {
    url: node.url,
    restart: async () => {
      await node.kill();
      node = await start();
    },
    stop: async () => {
      await node.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The command of a server that is a file of ours. */
export function nodeCommand(file: string, ...args: readonly string[]): (port: number) => readonly string[] {
  return (port) => [process.execPath, '--disable-warning=ExperimentalWarning', file, ...args, String(port)];
}

function missing(): never {
  throw new Error('the peer could not be installed');
}
