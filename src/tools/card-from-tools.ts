import { SKILL_SCHEMAS } from '#agents';
import type { AgentCard, AgentSkill, JsonObject } from '#protocol';
import { COMMON_INTERFACE, withoutEndSlashes } from '#protocol';

/** A tool of a registry, as far as the card needs it. */
export interface RegisteredTool {
  /** Becomes the id and the name of the skill. */
  readonly name: string;
  /** Becomes the description of the skill. */
  readonly description: string;
  /** Permissions such as `network:fetch`. They become the skill's tags. */
  readonly capabilities?: readonly string[];
  /** The JSON Schema of its input, published with the skill. */
  readonly inputSchema?: JsonObject;
  /** Prompts that the tool serves. Default: examples for common tool names. */
  readonly examples?: readonly string[];
}

/** The members of the card that tools do not tell. */
export interface CardFromTools {
  /** Name of the agent. */
  readonly name: string;
  /** What the agent does. */
  readonly description: string;
  /** Version of the agent. Default `1.0.0`. */
  readonly version?: string;
  /** The agent's address. Absent: its server adds it. */
  readonly url?: string;
}

/** Examples for common tools, by their names (docs/dialects/cortex.md). */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  file_read: ['Read the file src/main.ts', 'Show me what is in README.md'],
  file_write: ['Write a .gitignore for a Node project', 'Save this as notes.md'],
  file_edit: ['Rename the function parse to read in src/parse.ts', 'Fix the typo in README.md'],
  shell: ['Run the tests', 'Show which files changed since the last commit'],
  code_exec: ['Run this Python snippet', 'Compute the first 20 primes with code'],
  web_search: ['Search the web for the latest A2A specification', 'Find reviews of this library'],
  web_fetch: ['Fetch https://example.org and summarize it', 'Read this page and list its links'],
  sub_agent: ['Let another agent review this change', 'Delegate the research to a specialist'],
  github_pr_create: ['Open a pull request with these changes', 'Create a pull request for the fix'],
  db_query: ['List the ten newest orders', 'How many users signed up this week?'],
};

const skill = (id: string, description: string, more: Pick<AgentSkill, 'tags' | 'examples'>): AgentSkill => ({
  id,
  name: titleOf(id),
  description,
  ...more,
});

/** The skills of an agent without registered tools. */
export const DEFAULT_SKILLS: readonly AgentSkill[] = [
  skill('code-generation', 'Writes code from a description.', {
    tags: ['coding', 'generation'],
    examples: ['Write a function that merges two sorted lists', 'Scaffold a REST endpoint for orders'],
  }),
  skill('debugging', 'Finds and fixes faults in code.', {
    tags: ['coding', 'debugging'],
    examples: ['Why does this test fail?', 'Find the cause of this stack trace'],
  }),
  skill('code-review', 'Reviews code for faults, style and risks.', {
    tags: ['coding', 'review'],
    examples: ['Review this pull request', 'Is this safe against injection?'],
  }),
  skill('architecture', 'Designs systems and weighs the options.', {
    tags: ['design', 'architecture'],
    examples: ['Design a queue for these jobs', 'Compare these two database layouts'],
  }),
  skill('search', 'Searches code, documents and the web.', {
    tags: ['search', 'research'],
    examples: ['Where is the configuration read?', 'Find the documentation of this API'],
  }),
];

/**
 * Makes an agent card from a registry of tools, each as a skill. Without tools the card has the default
 * skills of a coding agent.
 *
 * ```ts
 * const card = generateAgentCard([{ name: 'file_read', description: 'Reads a file.' }], { name: 'helper' });
 * ```
 */
export function generateAgentCard(tools: Iterable<RegisteredTool>, options: CardFromTools): AgentCard {
  const all = [...tools];
  const schemas = all.flatMap(({ name, inputSchema }) => (inputSchema === undefined ? [] : [[name, inputSchema] as const]));
  const base = options.url === undefined ? undefined : withoutEndSlashes(options.url);
  return {
    name: options.name,
    description: options.description,
    version: options.version ?? '1.0.0',
    supportedInterfaces: base === undefined ? [] : [{ url: `${base}/a2a`, ...COMMON_INTERFACE }],
    capabilities: {
      streaming: true,
      ...(schemas.length === 0 ? {} : { extensions: [{ uri: SKILL_SCHEMAS, params: { skills: published(schemas) } }] }),
    },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: all.length === 0 ? DEFAULT_SKILLS : all.map(skillOf),
    ...(base === undefined ? {} : { documentationUrl: `${base}/docs` }),
  };
}

/** A tool as a skill. */
function skillOf({ name, description, capabilities = [], examples }: RegisteredTool): AgentSkill {
  const title = titleOf(name);
  return {
    id: name,
    name: title,
    description,
    tags: capabilities.length === 0 ? [name] : capabilities,
    examples: examples ?? EXAMPLES[name] ?? [`Use ${title}`],
  };
}

function published(schemas: readonly (readonly [string, JsonObject])[]): JsonObject {
  return Object.fromEntries(schemas.map(([name, schema]) => [name, { input: { vendor: 'json-schema', schema } }]));
}

/** Turns `file_read` into `File Read`. */
export function titleOf(name: string): string {
  return name
    .split(/[_\-\s]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}
