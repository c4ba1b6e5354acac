import type { AgentInterface, Fetch } from '#protocol';
import type { Session } from '../calls/session.ts';
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
    (await ofThisMachine({ found, iface }));
  secrets.add(bearer);
  return { bearer, apiKey: settings.text('api-key'), basic: settings.text('basic'), mtls: settings.text('cert') !== undefined };
}

async function configured(ref: string | undefined): Promise<string | undefined> {
  if (ref === undefined || !/^[\w-]+$/.test(ref) || ref === 'localhost') return undefined;
  const { remoteAgents } = await import('./remotes.ts');
  return (await remoteAgents()).find(({ name }) => name === ref)?.authToken;
}

async function loggedIn(session: Session, { iface, fetch }: For): Promise<string | undefined> {
  const store = tokenStore();
  const login = store.find(new URL(iface.url).origin);
  if (login === undefined) return undefined;
  for (const secret of [login.tokens?.accessToken, login.tokens?.refreshToken, login.clientSecret]) session.secrets.add(secret);
  const { accessToken } = await import('../auth/tokens.ts');
  return await accessToken(login, { store, fetch, signal: session.signal });
}

/** Where a card asks for nothing, nothing has to be shown. */
async function ofThisMachine({ found, iface }: Pick<For, 'found' | 'iface'>): Promise<string | undefined> {
  if (found !== undefined && (found.card.securityRequirements ?? []).length === 0) return undefined;
  const { localToken } = await import('../local-token.ts');
  return localToken(iface.url);
}
