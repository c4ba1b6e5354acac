import type { Operation, Principal } from '#protocol';

/** What a caller is given unless somebody says otherwise: everything of A2A, nothing of the node's own business. */
export const CALLER_SCOPES: readonly string[] = ['tasks:read', 'tasks:write', 'tasks:cancel', 'push:write', 'card:extended'];

/** The scope that each operation needs. `card` is public wherever it is asked for. */
const NEEDED: Readonly<Record<Operation, string | undefined>> = {
  send: 'tasks:write',
  stream: 'tasks:write',
  get: 'tasks:read',
  list: 'tasks:read',
  subscribe: 'tasks:read',
  cancel: 'tasks:cancel',
  'push.create': 'push:write',
  'push.delete': 'push:write',
  'push.get': 'tasks:read',
  'push.list': 'tasks:read',
  extendedCard: 'card:extended',
  card: undefined,
};

export interface AuthorisationTarget {
  readonly agent: string;
  readonly runsCommands: boolean;
}

/** The first scope that is missing. An agent that runs commands has one of its own, which nobody is given by default. */
export function missingScope(principal: Principal, operation: Operation, { agent, runsCommands }: AuthorisationTarget): string | undefined {
  const needed = NEEDED[operation];
  if (needed !== undefined && !hasScope(principal, needed)) return needed;
  const executor = `executor:${agent}`;
  const starts = operation === 'send' || operation === 'stream';
  return runsCommands && starts && !hasScope(principal, executor) ? executor : undefined;
}

/** `*` is every scope, `tasks:*` every one of tasks. */
export function hasScope({ scopes }: Principal, scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope) || scopes.includes(`${scope.slice(0, scope.indexOf(':') + 1)}*`);
}

/** One that means something here: of callers, of operators, or for one agent that runs commands; `*` stands for many. */
export function isKnownScope(text: string): boolean {
  return CALLER_SCOPES.includes(text) || /^(?:\*|admin|(?:tasks|push|card|executor|admin):\*|executor:[\w.-]+)$/.test(text);
}

/** RFC 6749 §3.3. */
export function isScope(text: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(text);
}
