import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeClient, describeLong, describeServer, nodeCommand } from '../suite.ts';
import type { Society } from './client.ts';
import { ALSO, EXCEPT, SLOW_THREAD, societyTalk } from './client.ts';
import type { Printed } from './player.ts';
import { society } from './player.ts';

const registry = (): string => join(mkdtempSync(join(tmpdir(), 'society-')), 'registry.json');

/** A person with this program, and a registry that is empty at first. */
function person(title: string, open: (registry: string) => Society): void {
  describeClient({ title, talk: (url) => societyTalk(url, open(registry())), except: EXCEPT, also: ALSO, slow: SLOW_THREAD });
}

person('Society 0.3.0 (player)', (file) => (args, input) => society(file, args, input));

/** Society's own program in the folder that PARLEY_PEERS names: `society/society`, built in a checkout of lucharo/society. */
const program = join(process.env['PARLEY_PEERS'] ?? '', 'society/society');
const isProgramThere = process.env['PARLEY_PEERS'] !== undefined && existsSync(program);
if (isProgramThere) {
  person('Society, its own program', (file) => (args, input) => run(program, ['--registry', file, ...args], input));
}

/** What Society's server can't do. */
const SERVER_EXCEPT: Readonly<Record<string, string>> = {
  chunks: 'has no streams',
  question: 'has no questions',
  approval: 'has no questions',
  parts: 'returns text only',
  cancel: 'has no cancel',
  unknown: 'has no get',
  list: 'has no list',
  restart: 'has no get',
};

describeServer({
  title: 'Society 0.3.0 (player)',
  command: nodeCommand(fileURLToPath(new URL('server.ts', import.meta.url))),
  except: SERVER_EXCEPT,
});

if (isProgramThere) {
  const command = nodeCommand(fileURLToPath(new URL('program-server.ts', import.meta.url)), program);
  describeServer({ title: 'Society, its own program', command, except: SERVER_EXCEPT });
}

describeLong();

async function run(program: string, args: readonly string[], input = ''): Promise<Printed> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
  child.stdin.end(input);
  return await new Promise((resolve) => child.on('close', (code) => resolve({ out, code: code ?? 1 })));
}
