import { resolveConfig } from '#server';
import { createScript } from '../../../src/agents/built-in/script.ts';
import { logFor, serveConfigured } from '../../../src/server/adapters/serve-configured.ts';

/**
 * The control of forwarding: a node that repeats requests at the next owner under another key. `parley serve` can't reach this code. It has the
 * same arguments: `--data DIR`, `--store URL`, `--store-lease-ms N`, `--port N`.
 */
const flagValue = (flag: string): string => process.argv[process.argv.indexOf(flag) + 1] ?? '';
const flags = new Map(['data', 'store', 'store-lease-ms', 'port'].map((name) => [name, flagValue(`--${name}`)] as const));
const env = { PARLEY_DATA: flags.get('data'), PARLEY_STORE: flags.get('store'), PARLEY_STORE_LEASE_MS: flags.get('store-lease-ms') };
const settings = resolveConfig({ flags: new Map(), env: { ...env, PARLEY_PORT: flags.get('port') } });
const say = (event: string, url: string): void => void process.stdout.write(`${JSON.stringify({ event, url, agents: ['script'] })}\n`);
const served = await serveConfigured([{ agent: createScript(), source: 'script' }], settings, {
  log: logFor(settings),
  repeats: 'plain',
});
say('ready', served.url);
