import { takeFlags } from './bridges/own-flags.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { cardSigner } from './remote/card-key.ts';
import { proxied } from './remote/proxy-agent.ts';
import type { FindAgent } from './serve.ts';
import { serveAgents } from './serve.ts';
import { flagHelp } from './serve-flags.ts';

export const proxyCommand: Command = {
  name: 'proxy',
  help: `parley proxy: an agent from elsewhere, in every version and dialect, with tasks that are kept here.

Usage: parley proxy URL… [OPTIONS]

URL is the address of an agent of any version or dialect, or of its card, or a name from a2a.remoteAgents. The first is at the root;
every one is also at /agents/{name}/.

Options:
  --name NAME         What the agent is called here. (its own name)
  --header TEXT       Sent to the agent with every request, as 'X-Key: abc'. Can be given many times.
  --token-env NAME    The environment variable that holds a bearer token for the agent.
  --trust-keys FILE   A JWKS file: a card that none of its keys has signed is refused.
  --card-key FILE     Sign the card with this private key, a JWK; made if it is not there, with its public half in FILE.pub.
  --record FILE       Write every exchange with the agent to FILE, for parley mock.

${flagHelp(['Coding agents and commands'])}

Example:
  parley proxy https://legacy.example --port 8080

Exit codes: 0 stopped as asked, 1 could not serve or reach the agent, 2 wrong call.
`,
  run: async (args) => {
    const flags = takeFlags(args, {
      name: 'one',
      header: 'many',
      'token-env': 'one',
      'trust-keys': 'one',
      'card-key': 'one',
      record: 'one',
    });
    const urls = flags.rest.filter((arg) => !arg.startsWith('--'));
    if (urls.length === 0) throw new CliError('which agent?', { hint: 'try: parley proxy https://agent.example', exit: 2 });
    const name = flags.one('name');
    const tokenEnv = flags.one('token-env');
    const trustKeys = flags.one('trust-keys');
    const record = flags.one('record');
    const cardKey = flags.one('card-key');
    const find: FindAgent = (given, settings) =>
      proxied(String(given), settings, {
        headers: flags.many('header'),
        ...(name === undefined ? {} : { name }),
        ...(tokenEnv === undefined ? {} : { tokenEnv }),
        ...(trustKeys === undefined ? {} : { trustKeys }),
        ...(record === undefined ? {} : { record }),
      });
    return await serveAgents(flags.rest, find, cardKey === undefined ? {} : { signer: await cardSigner(cardKey) });
  },
};
