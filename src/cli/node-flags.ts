import { DEFAULT_PORT } from '../server/adapters/node.ts';
import { adminApi } from './admin-api.ts';
import { addressOf, isAddress } from './agent/address.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { textOf } from './flags/parse.ts';
import type { Flag } from './flags/spec.ts';
import { localToken } from './local-token.ts';

/** Which node a command of an operator calls, and with what. */
export const NODE_FLAGS: readonly Flag[] = [
  {
    name: 'url',
    aliases: ['agent-card'],
    short: 'a',
    kind: 'text',
    value: 'URL',
    default: `http://127.0.0.1:${DEFAULT_PORT}, or the port in PORT`,
    doc: 'The node.',
  },
  {
    name: 'token',
    kind: 'text',
    value: 'TOKEN',
    default: "PARLEY_TOKEN; on loopback this machine's own",
    doc: 'The token to authenticate with.',
  },
];

/** The admin API of the node that the flags name. An argument that is an address comes before them. */
export function nodeApi(flags: ParsedFlags, argument?: string): ReturnType<typeof adminApi> {
  const named = argument ?? textOf(flags, 'url') ?? `http://127.0.0.1:${process.env['PORT'] ?? DEFAULT_PORT}`;
  const url = isAddress(named) ? addressOf(named) : named;
  return adminApi(url, textOf(flags, 'token') ?? process.env['PARLEY_TOKEN'] ?? localToken(url));
}
