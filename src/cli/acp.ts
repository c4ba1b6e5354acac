import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { remoteAgent } from '#tools';
import { serveAcp } from '../tools/adapters/acp-server.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { helpFor } from './flags/help.ts';
import { argumentsOf, listOf, parse, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { targetOf, unreachable } from './remote/connect.ts';
import { guardedFetchFor } from './remote/guarded-fetch.ts';
import { settingsFor } from './serve.ts';

const SPEC: CommandSpec = {
  name: 'acp',
  summary: 'let an editor (Zed, JetBrains, Neovim and others) use an agent.',
  args: [{ name: 'URL' }],
  details: `URL is the URL of an agent of any version or dialect, or a name from a2a.remoteAgents. The command speaks the Agent Client Protocol over standard
input and output, as editors start it.`,
  flags: [
    {
      name: 'mode',
      kind: 'list',
      value: 'NAME',
      doc: "A mode of the agent that the editor offers, sent as `metadata.mode`. The agent's skills are modes too.",
    },
    { name: 'header', kind: 'list', value: 'TEXT', doc: "A header for every request to the agent, as 'X-Key: abc'." },
    { name: 'token-env', kind: 'text', value: 'NAME', doc: 'The environment variable that holds a bearer token for the agent.' },
    {
      name: 'config',
      kind: 'text',
      value: 'FILE',
      default: 'parley.config.ts or .json in this folder',
      doc: 'The configuration file.',
    },
  ],
  examples: ['parley acp https://agent.example', 'parley acp localhost:41242/agents/echo'],
  exits: '0 the editor has closed the connection; 1 the agent could not be reached; 2 wrong call.',
};

export const acpCommand: Command = { name: 'acp', help: helpFor(SPEC), spec: SPEC, run };

/** Serves one agent to an editor until the editor closes the connection. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [given = ''] = argumentsOf(flags);
  const settings = await settingsFor({ settings: new Map(), config: textOf(flags, 'config') });
  const tokenEnv = textOf(flags, 'token-env');
  const target = targetOf(given, settings, {
    headers: listOf(flags, 'header'),
    forMe: true,
    ...(tokenEnv === undefined ? {} : { tokenEnv }),
  });
  const remote = remoteAgent(target, { env: process.env, client: { fetch: guardedFetchFor([target.url], settings) } });
  await remote.get().catch((thrown: unknown) => {
    throw unreachable(given, thrown);
  });
  const onError = (thrown: unknown): void =>
    void process.stderr.write(`parley acp: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  const stream = ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>);
  const { closed } = serveAcp(remote, stream, { modes: listOf(flags, 'mode'), onError });
  await closed.catch((thrown: unknown) => {
    throw new CliError(thrown instanceof Error ? thrown.message : String(thrown));
  });
  return 0;
}
