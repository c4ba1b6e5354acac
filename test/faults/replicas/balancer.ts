import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilOpen } from '../../support/brokers.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { NGINX } from '../../support/nginx.ts';
import { pause } from '../client.ts';
import type { Fleet } from './fleet.ts';

/** A real nginx in front of the fleet, as docs/guides/replicas.md configures it. */
export interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface BalancerOptions {
  readonly folder: string;
  /** False: nginx sends no request again, and does not ask `/readyz`. For the control of rolling restarts. */
  readonly isCareful?: boolean;
}

const GUIDE = fileURLToPath(new URL('../../../docs/guides/replicas.md', import.meta.url));
const LOOK_MS = 100;

/** The configuration of the guide, with the ports of this fleet. */
function configuration(port: number, nodes: readonly number[], isCareful: boolean): string {
  const [, block = ''] = /```text\n(upstream parley [\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const [, kept = ''] = /server 127\.0\.0\.1:\d+( [^;]*);/.exec(block) ?? [];
  const servers = nodes.map((node) => `server 127.0.0.1:${node}${isCareful ? kept : ' max_fails=0'};`).join(' ');
  const filled = block.replace(/(?:\s*server 127\.0\.0\.1:[^;]*;)+/, ` ${servers}`).replace(/listen \d+;/, `listen 127.0.0.1:${port};`);
  return isCareful ? filled : filled.replace(/proxy_next_upstream [^;]*;/, 'proxy_next_upstream off;');
}

/** Open-source nginx does not ask `/readyz` itself. So a loop asks, and changes the servers of nginx, as an operator's tool does. */
export async function startBalancer(fleet: Fleet, { folder, isCareful = true }: BalancerOptions): Promise<Balancer> {
  if (NGINX === undefined) throw new Error('nginx is not installed');
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(folder, name)};`);
  const write = (nodes: readonly number[]): void => {
    // A client that reuses a connection while nginx reloads would lose a request.
    const http = ['http {', 'access_log off;', 'keepalive_timeout 0;', ...temporary, configuration(port, nodes, isCareful), '}'];
    const top = [...(process.getuid?.() === 0 ? ['user root;'] : []), 'daemon off;', 'worker_processes 1;'];
    writeFileSync(file, [...top, `pid ${join(folder, 'nginx.pid')};`, 'error_log stderr crit;', 'events {}', ...http, ''].join('\n'));
  };
  const ready = async (): Promise<readonly number[]> => {
    const all = await Promise.all(fleet.ports.map(async (node, at) => ((await fleet.isReady(at)) ? [node] : [])));
    return all.flat();
  };
  let nodes: readonly number[] = [];
  await eventually(async () => {
    nodes = await ready();
    return nodes.length > 0;
  });
  write(nodes);
  const child = spawn(NGINX, ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'exit');
  await Promise.race([untilOpen(port), ended.then(() => Promise.reject(new Error(`nginx ended: ${errors}`)))]);
  let isOver = false;
  const follow = async (): Promise<void> => {
    for (; !isOver; await pause(LOOK_MS)) {
      const now = await ready();
      // Without a ready node nginx keeps the last ones, and refuses by itself.
      if (isOver || now.length === 0 || now.join() === nodes.join()) continue;
      nodes = now;
      write(nodes);
      child.kill('SIGHUP');
    }
  };
  const following = isCareful ? follow() : Promise.resolve();
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      isOver = true;
      await following;
      child.kill('SIGTERM');
      await ended;
    },
  };
}
