import { hash } from 'node:crypto';
import type { ListFilter, SearchTerm } from '../../../ports.ts';
import { codeOf } from '../../shared/state-codes.ts';
import { toText } from '../database/text.ts';

/** The owner, agent, context and state of a task, as they are stored. */
export interface StoredScope {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly context: string;
  readonly state: number;
}

/**
 * Words that say who may find a task, in a column of their own. A search for a caller with few tasks then reads those only, and not
 * every task that contains the word. The rows are checked again, so equal hashes show nobody the tasks of others.
 */
export function createScopeWords(): (scope: StoredScope) => string {
  // Many tasks have the same owner and the same agent.
  const known = new Map<string, string>();
  const common = (tenant: string, principal: string, agent: string): string => {
    const name = JSON.stringify([tenant, principal, agent]);
    const words = known.get(name) ?? [tenantWord(tenant), ownerWord(tenant, principal), agentWord(agent)].join(' ');
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(name, words);
    return words;
  };
  return ({ tenant, principal, agent, context, state }) =>
    `${common(tenant, principal, agent)} ${contextWord(context)} ${stateWord(state)}`;
}

const KNOWN_MAX = 1000;

/** A search in the query language of FTS5. Words have no quotes in them, so nothing that a caller typed is read as an operator. */
export function matchOf({ owner, agent, contextId, state }: ListFilter, terms: readonly SearchTerm[]): string {
  const scope: string[] = [];
  if (owner !== 'any') {
    const tenant = toText(owner.tenant);
    scope.push(owner.principal === undefined ? tenantWord(tenant) : ownerWord(tenant, toText(owner.principal)));
  }
  if (agent !== undefined) scope.push(agentWord(toText(agent)));
  if (contextId !== undefined) scope.push(contextWord(toText(contextId)));
  if (state !== undefined) scope.push(stateWord(codeOf(state)));
  const said = terms.map(({ words, isPrefix }) => `words : "${words.join(' ')}"${isPrefix ? ' *' : ''}`);
  return [...said, ...scope.map((word) => `scope : "${word}"`)].join(' AND ');
}

const short = (kind: string, name: string): string => `${kind}${hash('sha256', name).slice(0, 12)}`;
const tenantWord = (tenant: string): string => short('t', tenant);
const ownerWord = (tenant: string, principal: string): string => short('o', JSON.stringify([tenant, principal]));
const agentWord = (agent: string): string => short('a', agent);
const contextWord = (context: string): string => short('c', context);
const stateWord = (code: number): string => `s${code}`;
