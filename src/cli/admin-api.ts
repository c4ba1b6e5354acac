import type { Fetch } from '#protocol';
import { withoutEndSlashes } from '#protocol';
import { CliError } from './command.ts';

/** The admin API of a running node (docs/admin-api.md). */
export interface AdminApi {
  ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown>;
}

/** How a node is reached. */
interface AdminApiOptions {
  /** What to do if the node refuses the caller. */
  readonly authHint?: string;
  /** Default: the platform's. */
  readonly send?: Fetch;
}

const AUTH_HINT = 'use --token or PARLEY_TOKEN with the token of a caller that has the scope admin';

/** Calls the admin API of a node. Throws a CliError if the node can't be reached or refuses the request. */
export function adminApi(url: string, token: string | undefined, options: AdminApiOptions = {}): AdminApi {
  const { authHint = AUTH_HINT, send = (request) => fetch(request) } = options;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw new CliError(`--url: ${url} is not an http(s) address`, { exit: 2 });
  const base = `${withoutEndSlashes(url)}/api/parley/v1`;
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    ask: async (method, path, body) => {
      const sent =
        body === undefined ? { headers } : { headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
      const request = new Request(`${base}${path}`, { method, ...sent, redirect: 'error' });
      const response = await send(request).catch((thrown: unknown) => {
        throw new CliError(`nothing answers at ${url}`, {
          code: 'A2ACLI_ERR_UNREACHABLE',
          hint: `is parley serve running there? (${reasonOf(thrown)})`,
          exit: 3,
        });
      });
      const text = await response.text();
      if (response.ok) return text === '' ? undefined : JSON.parse(text);
      throw refusalOf(response.status, text, authHint);
    },
  };
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

/** The error for a refused request, in the node's own words if it sent some. */
function refusalOf(status: number, text: string, authHint: string): CliError {
  let message = `the node answers ${status}`;
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } };
    message = error?.message ?? message;
  } catch {
    // Not a JSON error of a node: report the status only.
  }
  return new CliError(message, status === 401 || status === 403 ? { hint: authHint } : {});
}
