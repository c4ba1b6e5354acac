import type { JsonObject } from '#protocol';
import { A2AError, isObject } from '#protocol';
import type { Delegation, PeerCall, PeerResult } from './delegation.ts';

/** A peer as a tool of a language model: `peer_{agent}` (reference/dialects §4f). */
export interface PeerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  execute(input: unknown): Promise<PeerResult>;
}

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    task_description: { type: 'string', description: 'What the agent is to do, with everything that it needs to know.' },
    artifacts: {
      type: 'array',
      description: 'Files that it is to work with.',
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

export function peerTools(delegation: Delegation): readonly PeerTool[] {
  return delegation.peers().map(({ name, card }) => ({
    name: `${PREFIX}${name}`,
    description: [card.description, ...card.skills.map((skill) => `- ${skill.name}: ${skill.description}`)].join('\n'),
    inputSchema: SCHEMA,
    execute: async (input) => {
      const [result] = await delegation.call([peerCall(`${PREFIX}${name}`, input)]);
      if (result === undefined) throw new Error('a call has one result');
      return result;
    },
  }));
}

/** What a model has asked for, by the tool's name: many of them go to `delegation.call` together. */
export function peerCall(tool: string, input: unknown): PeerCall {
  if (!tool.startsWith(PREFIX)) throw new A2AError('INVALID_PARAMS', `${tool.slice(0, 100)} is no tool for a peer`);
  const { task_description: description, artifacts } = isObject(input) ? input : {};
  if (typeof description !== 'string' || description === '') {
    throw new A2AError('INVALID_PARAMS', 'must be a text', { field: 'task_description' });
  }
  const agent = tool.slice(PREFIX.length);
  return artifacts === undefined
    ? { agent, task_description: description }
    : { agent, task_description: description, artifacts: filesIn(artifacts) };
}

function filesIn(raw: unknown): NonNullable<PeerCall['artifacts']> {
  if (!Array.isArray(raw)) throw new A2AError('INVALID_PARAMS', 'must be a list', { field: 'artifacts' });
  return raw.map((each: unknown) => {
    const { filename, version } = isObject(each) ? each : {};
    if (typeof filename !== 'string' || filename === '') throw new A2AError('INVALID_PARAMS', 'must name a file', { field: 'artifacts' });
    return typeof version === 'number' ? { filename, version } : { filename };
  });
}
