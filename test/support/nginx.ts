import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOf, untilOpen } from './brokers.ts';

export const NGINX: string | undefined = programOf('nginx');

const GUIDE = fileURLToPath(new URL('../../docs/guides/behind-a-proxy.md', import.meta.url));
/** The address of the node in the guide. */
const IN_GUIDE = '127.0.0.1:41242';

/** The `location` blocks of the guide, with the address of another node. */
export function locationsOfGuide(node: string): readonly string[] {
  const blocks = [...readFileSync(GUIDE, 'utf8').matchAll(/```text\n(location [\s\S]*?)```/g)];
  return blocks.map(([, block = '']) => block.replaceAll(IN_GUIDE, node));
}

export interface NginxOptions {
  readonly folder: string;
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  /** What is inside of the `server` block. */
  readonly locations: readonly string[];
  /** What stands before it. */
  readonly upstreams?: readonly string[];
}

export interface RunningNginx {
  readonly url: string;
  stop(): Promise<void>;
}

/** A real nginx with TLS and HTTP/2 on loopback. */
export async function startNginx({ folder, port, cert, key, locations, upstreams = [] }: NginxOptions): Promise<RunningNginx> {
  if (NGINX === undefined) throw new Error('nginx is not installed');
  const config = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(folder, name)};`);
  const http2 = hasHttp2Directive() ? [`listen 127.0.0.1:${port} ssl;`, 'http2 on;'] : [`listen 127.0.0.1:${port} ssl http2;`];
  const server = [...http2, `ssl_certificate ${cert};`, `ssl_certificate_key ${key};`, ...locations];
  const lines = [
    ...['daemon off;', 'master_process off;', `pid ${join(folder, 'nginx.pid')};`, 'error_log stderr warn;', 'events {}'],
    ...['http {', 'access_log off;', ...temporary, ...upstreams, 'server {', ...server, '}', '}'],
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const child = spawn(NGINX, ['-p', folder, '-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'exit');
  await Promise.race([untilOpen(port), ended.then(() => Promise.reject(new Error(`nginx ended: ${errors}`)))]);
  return {
    url: `https://localhost:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Before nginx 1.25.1, `http2` is a word of `listen`. */
function hasHttp2Directive(): boolean {
  // `nginx -v` prints to standard error.
  const text = execFileSync('sh', ['-c', `${NGINX} -v 2>&1`], { encoding: 'utf8' });
  const [major = 0, minor = 0, patch = 0] = (/(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1) ?? []).map(Number);
  return major > 1 || (major === 1 && (minor > 25 || (minor === 25 && patch >= 1)));
}
