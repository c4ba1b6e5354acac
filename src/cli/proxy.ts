import type { Command } from './command.ts';
import { usage } from './command.ts';
import { helpFor } from './flags/help.ts';
import { argumentsOf, listOf, parse, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { cardSigner } from './remote/card-key.ts';
import { proxied } from './remote/proxy-agent.ts';
import { readServeFlags, serveFlags } from './serve/flags.ts';
import type { FindAgent } from './serve.ts';
import { serveAgents } from './serve.ts';
import { durationMs, TIMER_MS_MAX } from './settings/duration.ts';

const SPEC: CommandSpec = {
  name: 'proxy',
  summary: 'serve an agent from elsewhere in every version and dialect, and keep its tasks here.',
  args: [{ name: 'URL', many: true }],
  details: `URL is the URL of an agent of any version or dialect, or of its card, or a name from a2a.remoteAgents. The first is at the root;
every one is also at /agents/{name}/.`,
  flags: [
    { name: 'name', kind: 'text', value: 'NAME', default: 'its own name', doc: 'The name of the agent here.' },
    { name: 'header', kind: 'list', value: 'TEXT', doc: "A header for every request to the agent, as 'X-Key: abc'." },
    { name: 'token-env', kind: 'text', value: 'NAME', doc: 'The environment variable that holds a bearer token for the agent.' },
    { name: 'trust-keys', kind: 'text', value: 'FILE', doc: 'A JWKS file. A card that none of its keys has signed is rejected.' },
    {
      name: 'card-key',
      kind: 'text',
      value: 'FILE',
      doc: 'Sign the card with this private key, a JWK. A missing file is created, with the public key in FILE.pub.',
    },
    {
      name: 'timeout',
      kind: 'text',
      value: 'TIME',
      default: '10m, or timeout of a2a.remoteAgents',
      doc: 'The longest wait for one answer of the agent, as 90s. A stream may be silent for longer.',
    },
    { name: 'record', kind: 'text', value: 'FILE', doc: 'Record all traffic with the agent in FILE, for parley mock.' },
    ...serveFlags(['Coding agents and commands']),
  ],
  examples: ['parley proxy https://legacy.example --port 8080'],
  exits: '0 stopped as asked; 1 could not serve or reach the agent; 2 wrong call.',
};

export const proxyCommand: Command = {
  name: 'proxy',
  help: helpFor(SPEC),
  spec: SPEC,
  run: async (args) => {
    const parsed = parse(SPEC, args);
    argumentsOf(parsed);
    const [name, tokenEnv, trustKeys] = [textOf(parsed, 'name'), textOf(parsed, 'token-env'), textOf(parsed, 'trust-keys')];
    const [record, cardKey] = [textOf(parsed, 'record'), textOf(parsed, 'card-key')];
    const timeoutMs = limitIn(textOf(parsed, 'timeout'));
    const find: FindAgent = (given, settings) =>
      proxied(String(given), settings, {
        headers: listOf(parsed, 'header'),
        ...(name === undefined ? {} : { name }),
        ...(tokenEnv === undefined ? {} : { tokenEnv }),
        ...(trustKeys === undefined ? {} : { trustKeys }),
        ...(record === undefined ? {} : { record }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
    const signer = cardKey === undefined ? {} : { signer: await cardSigner(cardKey) };
    return await serveAgents(readServeFlags(parsed), { find, ...signer });
  },
};

/** A timer can't measure more, and a limit of nothing would refuse every answer. */
function limitIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationMs('--timeout', text);
  if (ms === 0 || ms > TIMER_MS_MAX) throw usage(`--timeout: ${text} is no limit for an answer`, 'example: --timeout 90s');
  return ms;
}
