import type { AgentCard, AgentSkill } from '#protocol';
import { unreachable } from '#protocol';

/**
 * How tools are named, as PromptKit, CortexPrism and Solace Agent Mesh expect it (docs/dialects.md).
 */
export type NamingScheme = 'a2a__agent__skill' | 'a2a_agent' | 'peer_agent';

/** All naming schemes. */
export const NAMING_SCHEMES: readonly NamingScheme[] = ['a2a__agent__skill', 'a2a_agent', 'peer_agent'];

/** The limit of language models' APIs. */
const NAME_CHARS_MAX = 64;

/** What a tool is named after. */
export interface ToolSubject {
  /** The caller's name for the agent, or its card's name. */
  readonly agent: string;
  /** Absent when the whole agent is one tool. */
  readonly skill?: AgentSkill;
}

/** Whether each skill is a tool of its own. */
export function isBySkill(scheme: NamingScheme): boolean {
  return scheme === 'a2a__agent__skill';
}

/** The name of a tool, before it is made unique. */
export function toolName(scheme: NamingScheme, { agent, skill }: ToolSubject): string {
  switch (scheme) {
    case 'a2a__agent__skill':
      return short(['a2a', words(agent), ...(skill === undefined ? [] : [words(skill.id)])].join('__'));
    case 'a2a_agent':
      return short(`a2a_${agent.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`);
    case 'peer_agent':
      return short(`peer_${agent.replaceAll(/[^A-Za-z0-9_]/g, '_')}`);
    default:
      return unreachable(scheme);
  }
}

/** PromptKit's rule: lower case, one underscore for each run of other characters, none at the ends. */
function words(name: string): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_|_$/g, '') || 'agent'
  );
}

/** Keeps long names with the same beginning apart. */
function short(name: string): string {
  if (name.length <= NAME_CHARS_MAX) return name;
  let sum = 0;
  for (const char of name) sum = (Math.imul(sum, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return `${name.slice(0, NAME_CHARS_MAX - 8)}_${sum.toString(36).padStart(7, '0')}`;
}

/** A name with only the characters that language models' APIs allow. */
export function safeName(name: string): string {
  return short(name.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'tool');
}

/** Makes a name unique: the second one is `name_2`. */
export function distinct(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let count = 2; ; count += 1) {
    const ending = `_${count}`;
    const other = `${name.slice(0, NAME_CHARS_MAX - ending.length)}${ending}`;
    if (!taken.has(other)) return other;
  }
}

/** Patterns for skill ids. `*` matches any text. */
export interface SkillFilter {
  /** Only these skills. Wins over `block`. */
  readonly allow?: readonly string[];
  /** None of these skills. */
  readonly block?: readonly string[];
}

/** The skills that the filter admits. */
export function skillsOf({ skills }: AgentCard, { allow = [], block = [] }: SkillFilter = {}): readonly AgentSkill[] {
  if (allow.length > 0) return skills.filter(({ id }) => allow.some((pattern) => fits(id, pattern)));
  return skills.filter(({ id }) => !block.some((pattern) => fits(id, pattern)));
}

/** Whether a text matches a pattern with `*`. */
export function fits(text: string, pattern: string): boolean {
  const parts = pattern.split('*');
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
