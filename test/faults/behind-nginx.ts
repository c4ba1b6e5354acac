import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createAuthority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import type { RunningNginx } from '../support/nginx.ts';
import { startNginx } from '../support/nginx.ts';
import type { Parley } from '../support/parley.ts';
import { pause } from './client.ts';
import type { Job, Ledger } from './ledger.ts';
import { newJob, work } from './ledger.ts';
import { startParley } from './parley.ts';

/** A node with a real nginx in front, which has TLS and a prefix, as an operator runs it. */
export interface NodeBehindNginx {
  /** As clients reach it. */
  readonly url: string;
  /** The process that runs now. */
  readonly node: Parley;
  /** Stops it as a supervisor does, and starts the next one. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface BehindNginxOptions {
  readonly folder: string;
  readonly data: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly isBuilt?: boolean;
}

/** nginx knows the node twice, so that it sends a request again if the first connection was refused. */
function configuration(port: number): readonly string[] {
  const proxy = ['proxy_http_version 1.1;', 'proxy_set_header Host $host;', 'proxy_set_header X-Forwarded-For $remote_addr;'];
  const again = ['proxy_next_upstream error timeout http_503 non_idempotent;', 'proxy_next_upstream_tries 2;'];
  return [`location /parley/ { proxy_pass http://127.0.0.1:${port}/; proxy_buffering off; ${[...proxy, ...again].join(' ')} }`];
}

/** Starts both. `fetch` of this process trusts the certificate from now on. */
export async function startBehindNginx({ folder, data, args = [], ...around }: BehindNginxOptions): Promise<NodeBehindNginx> {
  const authority = createAuthority(folder, 'operator');
  const { cert, key } = authority.issue('proxy', 'DNS:localhost');
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority.ca, 'utf8')]);
  const [front, back] = [await freePort(), await freePort()];
  const url = `https://localhost:${front}/parley`;
  const flags = ['--port', String(back), '--insecure-behind-proxy', '--trust-proxy', '127.0.0.1', '--url', url, '--no-console'];
  const start = (): Promise<Parley> =>
    startParley({
      ...around,
      data,
      args: [...flags, ...args],
      limits: { drainMsMax: 5000, retryMs: 20 },
      env: { PARLEY_LAME_DUCK_MS: '500', ...around.env },
    });
  let node = await start();
  const nginx: RunningNginx = await startNginx({ folder, port: front, cert, key, locations: configuration(back) });
  return {
    url,
    get node() {
      return node;
    },
    restart: async () => {
      if ((await node.stop()) !== 0) throw new Error(`the node did not stop as asked: ${node.errors().slice(-500)}`);
      node = await start();
    },
    stop: async () => {
      await node.stop();
      await nginx.stop();
    },
  };
}

/** Clients that work until they are stopped, and repeat what a client should repeat. */
export interface Load {
  readonly ledger: Ledger;
  readonly done: () => number;
  /** How often something was repeated, and the reasons. */
  readonly repeated: () => number;
  readonly failed: readonly string[];
  /** How long each send took, with the time when it ended. */
  readonly sends: readonly { readonly at: number; readonly ms: number }[];
  stop(): Promise<void>;
}

const PATIENCE_MS = 60_000;

/** What a restart or a full disk causes: no connection, 502 and 504 of nginx, 503, a stream that ended before its task. */
function isForNow(thrown: unknown): boolean {
  return thrown instanceof TypeError || (thrown instanceof Error && /^50[234] |ended before its task|not valid JSON/.test(thrown.message));
}

/** Starts a client for each kind. `pauseMs` is the time between two jobs of a client. */
export function startLoad(url: string, kinds: readonly Job['kind'][], pauseMs = 0): Load {
  const ledger: Ledger = new Map();
  const [failed, sends]: [string[], { at: number; ms: number }[]] = [[], []];
  let [isOver, done, repeated] = [false, 0, 0];
  const finish = async (job: Job): Promise<void> => {
    for (const end = performance.now() + PATIENCE_MS; ; await pause(20)) {
      const began = performance.now();
      try {
        await work(url, ledger, job);
        if (job.kind === 'send') sends.push({ at: performance.now(), ms: performance.now() - began });
        done += 1;
        return;
      } catch (thrown) {
        repeated += 1;
        if (isForNow(thrown) && performance.now() < end) continue;
        failed.push(`${JSON.stringify(job)}: ${String(thrown)}`);
        return;
      }
    }
  };
  const clients = Promise.all(
    kinds.map(async (kind) => {
      for (; !isOver; await pause(pauseMs)) await finish(newJob(kind));
    }),
  );
  return {
    ...{ ledger, failed, sends },
    done: () => done,
    repeated: () => repeated,
    stop: async () => {
      isOver = true;
      await clients;
    },
  };
}
