import { describe, expect, it } from 'vitest';
import { SKILL_SCHEMAS } from '#agents';
import { generateAgentCard, titleOf } from './card-from-tools.ts';

const about = { name: 'Cortex', description: 'Does it all.' };

describe('generateAgentCard', () => {
  it('makes a skill of each tool: title, tags from capabilities, examples', () => {
    const card = generateAgentCard(
      [
        { name: 'file_read', description: 'Reads a file.', capabilities: ['fs:read'] },
        { name: 'make_tea', description: 'Makes tea.' },
      ],
      about,
    );
    expect(card.skills).toEqual([
      {
        id: 'file_read',
        name: 'File Read',
        description: 'Reads a file.',
        tags: ['fs:read'],
        examples: ['Read the file src/main.ts', 'Show me what is in README.md'],
      },
      { id: 'make_tea', name: 'Make Tea', description: 'Makes tea.', tags: ['make_tea'], examples: ['Use Make Tea'] },
    ]);
    expect(card.capabilities).toEqual({ streaming: true });
  });

  it('has five default skills without tools, with two tags and two examples each', () => {
    const { skills } = generateAgentCard([], about);
    expect(skills.map(({ id }) => id)).toEqual(['code-generation', 'debugging', 'code-review', 'architecture', 'search']);
    for (const { tags, examples } of skills) expect([tags.length, examples?.length]).toEqual([2, 2]);
  });

  it('has the agent’s address if it is given', () => {
    const card = generateAgentCard([], { ...about, url: 'https://cortex.example/' });
    expect(card.supportedInterfaces).toEqual([{ url: 'https://cortex.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]);
    expect(card.documentationUrl).toBe('https://cortex.example/docs');
  });

  it('publishes the input schemas', () => {
    const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
    const [extension] = generateAgentCard([{ name: 'file_read', description: '', inputSchema }], about).capabilities.extensions ?? [];
    expect(extension).toEqual({
      uri: SKILL_SCHEMAS,
      params: { skills: { file_read: { input: { vendor: 'json-schema', schema: inputSchema } } } },
    });
  });

  it.each([
    ['file_read', 'File Read'],
    ['github-pr create', 'Github Pr Create'],
    ['__x__', 'X'],
  ])('titles %s %s', (name, title) => expect(titleOf(name)).toBe(title));
});
