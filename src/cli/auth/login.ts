import { A2AClient, type FoundAgentCard } from '#client';
import type { DevicePrompt } from '../../client/adapters/oauth.ts';
import { fetchFor } from '../agent/client-options.ts';
import { findCard, strictOptions } from '../agent/connect.ts';
import { asCliError } from '../agent/errors.ts';
import { agentWords } from '../agent/words.ts';
import { withAgent } from '../card/agent-arg.ts';
import type { Command } from '../command.ts';
import { CliError, usage } from '../command.ts';
import { printJson } from '../contract/results.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import { CLIENT, GLOBALS } from '../flags/globals.ts';
import { textOf } from '../flags/parse.ts';
import { field } from '../output/labels.ts';
import type { Login, LoginStore } from '../settings/tokens.ts';
import { openLoginStore } from '../settings/tokens.ts';
import { EXITS } from '../task/exits.ts';
import type { LoginFlow } from './schemes.ts';
import { findOffer } from './schemes.ts';
import { accessToken } from './tokens.ts';

export const loginCommand: Command = contractCommand(
  {
    name: 'auth login',
    summary: 'get a token for an agent, by what its card offers, and keep it for later calls.',
    args: [{ name: 'AGENT', optional: true }],
    flags: [
      ...CLIENT,
      { name: 'flow', kind: 'text', oneOf: ['device', 'client-credentials'], default: "the card's first", doc: 'How.' },
      { name: 'scheme', kind: 'text', value: 'NAME', doc: 'The scheme of the card to answer.' },
      { name: 'scope', kind: 'text', value: 'TEXT', default: "the card's", doc: 'What for, in one word or several.' },
    ],
    globals: GLOBALS,
    details: `device: you approve in a browser, on any device (RFC 8628). client-credentials: the program itself is who calls. OAuth 2 schemes and OpenID
Connect are known. The token is kept in ~/.config/a2a-cli/credentials.json, which only you can read, and sent to that origin alone.`,
    examples: [
      'parley auth login -a agents.example.org --client-id cli',
      'A2ACLI_CLIENT_SECRET=… parley auth login -a agents.example.org --client-id job --flow client-credentials',
    ],
    exits: EXITS,
  },
  async (given) => {
    const session = withAgent(given);
    const found = await findCard(session);
    const origin = await originOf(session, found);
    const clientSecret = session.settings.text('client-secret');
    session.secrets.add(clientSecret);
    const wanted = { scheme: textOf(session.parsed, 'scheme'), flow: textOf(session.parsed, 'flow') as LoginFlow | undefined };
    const offer = findOffer(found.card, wanted);
    const clientId = session.settings.text('client-id');
    if (clientId === undefined) {
      throw usage('--client-id is missing', 'the authorization server gave you one when you registered; or set A2ACLI_CLIENT_ID');
    }
    if (offer.flow === 'client-credentials' && clientSecret === undefined) throw secretMissing();
    const scopes = textOf(session.parsed, 'scope')?.split(/\s+/) ?? offer.scopes;
    const login: Login = { ...offer, origin, clientId, scopes, ...(clientSecret === undefined ? {} : { clientSecret }) };
    const store = openLoginStore();
    try {
      const getting = {
        fetch: await fetchFor(session),
        signal: session.signal,
        store,
        prompt: (notice: DevicePrompt) => approve(session, notice),
      };
      session.secrets.add(await accessToken(login, getting));
    } catch (thrown) {
      throw asCliError(session.signal.aborted ? session.signal.reason : thrown, {
        url: origin,
        agent: agentWords(session),
        authenticated: true,
        timeout: session.settings.text('timeout'),
      });
    }
    print(session, store, login);
    return 0;
  },
);

/** Prints where the tokens are and when they expire, never the tokens. */
function print(session: ContractSession, store: LoginStore, { origin, scheme, flow }: Login): void {
  const expiresAtMs = store.find(origin)?.tokens?.expiresAtMs;
  const until = expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString();
  if (session.json) printJson(session, { origin, scheme, flow, expiresAt: until, store: store.path });
  else {
    const expires = until === null ? '' : field('Expires', until);
    session.out(field('Origin', origin) + field('Scheme', scheme) + field('Flow', flow) + expires + field('Store', store.path));
  }
}

function secretMissing(): CliError {
  return new CliError('client credentials need a secret', {
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    hint: 'set A2ACLI_CLIENT_SECRET',
    exit: 4,
  });
}

function approve(session: ContractSession, { verificationUri, userCode, verificationUriComplete }: DevicePrompt): void {
  const short = verificationUriComplete === undefined ? '' : `\nor open ${verificationUriComplete}`;
  session.note(`To approve, open ${verificationUri} and enter the code ${userCode}${short}\n`);
}

/** The origin that calls will go to. The token is for that origin only. */
async function originOf(session: ContractSession, found: FoundAgentCard): Promise<string> {
  try {
    return new URL((await A2AClient.connect(found, await strictOptions(session))).connection.url).origin;
  } catch (thrown) {
    throw asCliError(thrown, { url: found.url ?? '', agent: agentWords(session), authenticated: false });
  }
}

export const logoutCommand: Command = contractCommand(
  {
    name: 'auth logout',
    summary: 'forget the token for an agent.',
    args: [{ name: 'AGENT', optional: true }],
    flags: [],
    globals: GLOBALS,
    examples: ['parley auth logout -a agents.example.org'],
    exits: EXITS,
  },
  async (given) => {
    const session = withAgent(given);
    const origin = await originOf(session, await findCard(session));
    const had = openLoginStore().forget(origin);
    if (session.json) printJson(session, { origin, forgotten: had });
    else session.out(field('Origin', origin) + field('Forgotten', had ? 'yes' : 'there was no token'));
    return 0;
  },
);
