import type { ApprovalRule, Decision } from './policy.ts';

const DECISIONS: ReadonlySet<string> = new Set<Decision>(['allow', 'ask', 'deny']);
const KINDS: ReadonlySet<string> = new Set([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
]);

/**
 * `allow:Read`, `deny:execute`, `allow:edit:src/**`: the decision, the tool or kind of tool, and the
 * path.
 *
 * ```ts
 * const approvals = { rules: ['allow:read', 'deny:execute'].map(readRule), otherwise: 'ask' };
 * ```
 */
export function readRule(text: string): ApprovalRule {
  const [decision = '', name = '', ...path] = text.split(':');
  if (!DECISIONS.has(decision) || name === '') {
    throw new TypeError(
      `${JSON.stringify(text)} is no rule; write allow, ask or deny, then a tool or kind, then perhaps a path, as allow:edit:src/**`,
    );
  }
  return {
    decision: decision as Decision,
    ...(KINDS.has(name) ? { kind: name } : { tool: name }),
    ...(path.length === 0 ? {} : { path: path.join(':') }),
  };
}
