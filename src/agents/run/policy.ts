import { relative, sep } from 'node:path';
import type { Approval } from './events.ts';

/** What happens to a permission request: allow it, ask the caller, or deny it. */
export type Decision = 'allow' | 'ask' | 'deny';

/** The first matching rule decides. A rule matches any value of the members that it does not name. */
export interface ApprovalRule {
  /** The agent's name for the tool; `*` matches any characters. */
  readonly tool?: string;
  /** The kind of the tool: read, edit, delete, move, search, execute, think, fetch, other. */
  readonly kind?: string;
  /**
   * Relative to the working folder; `*` stays within a folder, `**` does not. Every path of the request
   * must fit.
   */
  readonly path?: string;
  /** What to do with requests that match. */
  readonly decision: Decision;
}

/**
 * Decides the permission requests of a coding agent.
 *
 * @example `{ rules: [{ kind: 'read', decision: 'allow' }, { path: 'secrets/**', decision: 'deny' }] }`
 */
export interface ApprovalPolicy {
  /** Checked in order; the first match decides. */
  readonly rules?: readonly ApprovalRule[];
  /** The decision if no rule matches. Default: `ask`. */
  readonly otherwise?: Decision;
}

/** The facts of a request that rules can match. */
export type Requested = Pick<Approval, 'tool' | 'toolKind' | 'paths'>;

/**
 * The decision of a policy for one request. `folder` is the working folder, to which rule paths are
 * relative.
 */
export function decide({ rules = [], otherwise = 'ask' }: ApprovalPolicy, request: Requested, folder: string): Decision {
  return rules.find((rule) => fits(rule, request, folder))?.decision ?? otherwise;
}

/**
 * Whether a rule allows everything of a kind, for any tool and path. For agents that must know before
 * they start.
 */
export function allowsAll({ rules = [], otherwise = 'ask' }: ApprovalPolicy, kind: string): boolean {
  for (const rule of rules.filter((each) => each.kind === undefined || each.kind === kind)) {
    if (rule.decision !== 'allow') return false;
    if (rule.path === undefined && (rule.tool === undefined || rule.tool === '*')) return true;
  }
  return otherwise === 'allow';
}

/** Whether a rule matches a request. A path rule must cover every path of the request. */
function fits({ tool, kind, path }: ApprovalRule, request: Requested, folder: string): boolean {
  if (tool !== undefined && !matches(tool, request.tool)) return false;
  if (kind !== undefined && kind !== request.toolKind) return false;
  if (path === undefined) return true;
  // A request without a path can't be shown to stay within one.
  const paths = request.paths ?? [];
  return paths.length > 0 && paths.every((each) => matchesPath(path, relative(folder, each)));
}

/** Nothing outside of the folder matches, because rules are about the folder. */
export function matchesPath(pattern: string, path: string): boolean {
  const segments = path.split(sep);
  if (path === '' || segments[0] === '..' || path.startsWith('/')) return false;
  return matchesSegments(pattern.split('/'), segments);
}

function matchesSegments(patterns: readonly string[], segments: readonly string[]): boolean {
  const [first, ...rest] = patterns;
  if (first === undefined) return segments.length === 0;
  if (first === '**') return segments.some((_, at) => matchesSegments(rest, segments.slice(at))) || matchesSegments(rest, []);
  const [segment, ...others] = segments;
  return segment !== undefined && matches(first, segment) && matchesSegments(rest, others);
}

/**
 * Matched by hand, because a regular expression made from a pattern with many stars can take very long.
 */
export function matches(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let read = 0; read < text.length; ) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      resume = read;
    } else if (pattern[at] === text[read]) {
      at += 1;
      read += 1;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      resume += 1;
      read = resume;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
