import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goTool } from '../../peers/install.ts';
import { SuiteSchema } from './schema.ts';
import { serveSuite } from './server.ts';

/**
 * Runs Connect's own conformance suite against our roads: a Go client that calls a service in each protocol. docs/conformance.md has the
 * results. The suite has time limits of its own, so a very busy machine fails some cases.
 */
const SUITE = { module: 'connectrpc.com/conformance@v1.0.6', command: 'cmd/connectconformance' };
const HERE = fileURLToPath(new URL('.', import.meta.url));
const BUF = fileURLToPath(new URL('../../../node_modules/.bin/buf', import.meta.url));

process.exitCode = await main();

async function main(): Promise<number> {
  const suite = goTool('connect-suite', SUITE);
  if (suite === undefined) {
    process.stderr.write('the suite could not be built: it needs Go 1.24 and its module proxy\n');
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'parley-suite-'));
  try {
    const image = join(folder, 'suite.binpb');
    const { status } = spawnSync(BUF, ['build', join(suite.source, 'proto'), '-o', image], { stdio: 'inherit' });
    if (status !== 0) return 1;
    const path = join(folder, 'host.sock');
    const host = await serveSuite(new SuiteSchema(image), path);
    const results: number[] = [];
    for (const road of ['direct', 'grpc-json', 'connect']) results.push(await run(suite.program, road, path));
    host.close();
    return Math.max(...results);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(program: string, road: string, path: string): Promise<number> {
  process.stdout.write(`\n${road} road\n`);
  const child = spawn(
    program,
    [
      ...['--mode', 'server', '--conf', join(HERE, `${road}.yaml`), '--known-failing', `@${join(HERE, `${road}-known-failing.txt`)}`],
      ...['--max-servers', '1', '--parallel', '4', '--', process.execPath, join(HERE, 'relay.mjs'), path],
    ],
    { stdio: 'inherit' },
  );
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}
