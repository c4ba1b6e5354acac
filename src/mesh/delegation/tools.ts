import type { JsonObject } from '#protocol';
import { A2AError, isObject } from '#protocol';
import type { Delegation, PeerCall, PeerResult } from './delegation.ts';

/** Another agent as a tool of a language model, named `peer_{agent}` (docs/dialects/sam.md). */
export interface PeerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Calls the agent with a model's arguments. */
  execute(input: unknown): Promise<PeerResult>;
}

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    task_description: { type: 'string', description: 'What the agent should do, with everything that it needs to know.' },
    artifacts: {
      type: 'array',
      description: 'Files that the agent should use.',
      items: {
        type: 'object',
        properties: { filename: { type: 'string' }, version: { type: 'integer', minimum: 0 } },
        required: ['filename'],
        additionalProperties: false,
      },
    },
  },
  required: ['task_description'],
  additionalProperties: false,
};

const PREFIX = 'peer_';

/**
 * The agents that a turn may delegate to, as tools of a language model.
 *
 * ```ts
 * const tools = peerTools(delegate(turn, { self, registry, caller })); // name, description, inputSchema, execute
 * ```
 */
export function peerTools(delegation: Delegation): readonly PeerTool[] {
  return delegation.peers().map(({ name, card }) => ({
    name: `${PREFIX}${name}`,
    description: [card.description, ...card.skills.map((skill) => `- ${skill.name}: ${skill.description}`)].join('\n'),
    inputSchema: SCHEMA,
    execute: async (input) => {
      const [result] = await delegation.call([peerCall(`${PREFIX}${name}`, input)]);
      if (result === undefined) throw new Error('a call has exactly one result');
      return result;
    },
  }));
}

/**
 * Converts a model's tool call to a `PeerCall`. Several of them can run concurrently with
 * `delegation.call`.
 */
function peerCall(tool: string, input: unknown): PeerCall {
  if (!tool.startsWith(PREFIX)) throw new A2AError('INVALID_PARAMS', `${tool.slice(0, 100)} is not a peer tool`);
  const { task_description: description, artifacts } = isObject(input) ? input : {};
  if (typeof description !== 'string' || description === '') {
    throw new A2AError('INVALID_PARAMS', 'must be a non-empty string', { field: 'task_description' });
  }
  const agent = tool.slice(PREFIX.length);
  return artifacts === undefined
    ? { agent, task_description: description }
    : { agent, task_description: description, artifacts: filesIn(artifacts) };
}

/** Checks the files that a model names in a call. */
function filesIn(raw: unknown): NonNullable<PeerCall['artifacts']> {
  if (!Array.isArray(raw)) throw new A2AError('INVALID_PARAMS', 'must be a list', { field: 'artifacts' });
  return raw.map((each: unknown) => {
    const { filename, version } = isObject(each) ? each : {};
    if (typeof filename !== 'string' || filename === '')
      throw new A2AError('INVALID_PARAMS', 'each needs a filename', { field: 'artifacts' });
    return typeof version === 'number' ? { filename, version } : { filename };
  });
}
