import type { AgentInterface, Fetch } from '#protocol';
import type { Session } from '../contract/session.ts';
import { asksForBearer, localToken } from '../local-token.ts';
import { tokenStore } from '../settings/tokens.ts';
import type { FoundCard } from './card-file.ts';
import type { Credentials } from './credentials.ts';

interface For {
  readonly found: FoundCard | undefined;
  readonly iface: AgentInterface;
  readonly fetch: Fetch;
}

/** What the caller gave; for a bearer token besides, what parley.config has for this name, or what `auth login` got for this origin, or this machine's own. */
export async function givenCredentials(session: Session, { found, iface, fetch }: For): Promise<Credentials> {
  const { settings, secrets } = session;
  const bearer =
    settings.text('bearer') ??
    (await configured(settings.text('agent-card'))) ??
    (await loggedIn(session, { found, iface, fetch })) ??
    ofThisMachine(session, { found, iface, fetch });
  secrets.add(bearer);
  return { bearer, apiKey: settings.text('api-key'), basic: settings.text('basic'), mtls: settings.text('cert') !== undefined };
}

async function configured(ref: string | undefined): Promise<string | undefined> {
  if (ref === undefined || !/^[\w-]+$/.test(ref) || ref === 'localhost') return undefined;
  const { remoteAgents } = await import('../remote/configured.ts');
  return (await remoteAgents()).find(({ name }) => name === ref)?.authToken;
}

/** Only for an agent that asks for a credential: another one on this machine has no business with the token, and nobody gave it one. */
function ofThisMachine({ settings }: Session, { found, iface }: For): string | undefined {
  const hasOther = settings.text('api-key') !== undefined || settings.text('basic') !== undefined;
  // With --endpoint there is no card to ask.
  return hasOther || (found !== undefined && !asksForBearer(found.card)) ? undefined : localToken(iface.url);
}

async function loggedIn(session: Session, { iface, fetch }: For): Promise<string | undefined> {
  const store = tokenStore();
  const login = store.find(new URL(iface.url).origin);
  if (login === undefined) return undefined;
  for (const secret of [login.tokens?.accessToken, login.tokens?.refreshToken, login.clientSecret]) session.secrets.add(secret);
  const { accessToken } = await import('../auth/tokens.ts');
  return await accessToken(login, { store, fetch, signal: session.signal });
}
