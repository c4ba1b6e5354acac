import type { Authenticator } from '#client';
import type { Fetch } from '#protocol';
import type { DevicePrompt, Tokens } from '../../client/adapters/oauth.ts';
import { clientCredentials, deviceCode } from '../../client/adapters/oauth.ts';
import { CliError } from '../command.ts';
import type { Login, LoginStore } from '../settings/tokens.ts';

/** What getting a token needs. */
export interface Getting {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  readonly store: LoginStore;
  /** Shows the device code to a person. Absent if the command can't prompt. */
  readonly prompt?: (prompt: DevicePrompt) => void;
}

/** Gets and renews the tokens of a login, and stores them. */
function authenticatorFor(login: Login, { fetch, signal, store, prompt }: Getting): Authenticator {
  const { flow, tokens, origin, source, clientId, clientSecret, scopes } = login;
  const options = {
    source,
    clientId,
    scopes,
    fetch,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    tokens: {
      load: () => tokens,
      save: (got: Tokens | undefined) => {
        if (got === undefined) store.forget(origin);
        else store.save({ ...login, tokens: got });
      },
    },
  };
  switch (flow) {
    case 'client-credentials':
      return clientCredentials(options);
    case 'device':
      return deviceCode({ ...options, signal, prompt: prompt ?? (() => expired(login)) });
  }
}

/** Only `auth login` sends a person to a browser. Other commands fail instead. */
function expired({ origin }: Login): never {
  throw new CliError(`the token for ${origin} has expired`, {
    code: 'A2ACLI_ERR_AUTH_FAILED',
    hint: `get a new one: parley auth login -a ${origin}`,
    exit: 4,
  });
}

/** The stored access token, or a new one if it has expired. */
export async function accessToken(login: Login, getting: Getting): Promise<string | undefined> {
  const { headers } = await authenticatorFor(login, getting).present(undefined);
  return headers?.['Authorization']?.replace(/^Bearer /, '');
}
