import type { Fetch } from '#protocol';
import { kept } from '#protocol';
import { usage } from '../command.ts';

export type SvcParam = readonly [name: string, value: string];

/** `--svc-param NAME:VALUE` (or `=`), split at the first. They go as headers, never into a query. */
export function readSvcParams(given: readonly string[]): readonly SvcParam[] {
  return given.map((text) => {
    const match = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*[:=]\s*(.*)$/.exec(text);
    const [, name = '', value = ''] = match ?? [];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a header can't hold them
    if (match === null || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
      throw usage(`--svc-param: ${text.slice(0, 40)} is not NAME:VALUE`, "as: --svc-param 'X-Region: eu-west'");
    }
    return [name, value];
  });
}

/** Adds what every request carries: the version (A2A 1.0.1 §3.6.1: none means 0.3 to the server) and the service parameters. */
export function parameterFetch(
  next: Fetch,
  { version, params }: { readonly version?: string; readonly params: readonly SvcParam[] },
): Fetch {
  return async (request) => {
    const headers = new Headers(request.headers);
    if (version !== undefined && !headers.has('A2A-Version')) headers.set('A2A-Version', version);
    for (const [name, value] of params) headers.set(name, value);
    return await next(kept(new Request(request, { headers })));
  };
}
