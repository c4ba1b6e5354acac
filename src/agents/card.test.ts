import { describe, expect, it } from 'vitest';
import { writeCard } from '#protocol';
import { createCard } from './card.ts';

/** A2A 1.0.1 §4.4.1 and §4.4.5: the members with field_behavior REQUIRED. */
const REQUIRED = [
  'name',
  'description',
  'supportedInterfaces',
  'version',
  'capabilities',
  'defaultInputModes',
  'defaultOutputModes',
  'skills',
];
const SKILL_REQUIRED = ['id', 'name', 'description', 'tags'];

describe('a card', () => {
  it('has everything that 1.0 requires, from a name and a description', () => {
    const card = createCard({ name: 'Weather of Tomorrow!', description: 'Guesses.' });
    expect(card).toEqual({
      name: 'Weather of Tomorrow!',
      description: 'Guesses.',
      version: '1.0.0',
      supportedInterfaces: [],
      capabilities: { streaming: true, pushNotifications: true },
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [{ id: 'weather-of-tomorrow', name: 'Weather of Tomorrow!', description: 'Guesses.', tags: ['weather-of-tomorrow'] }],
    });
    for (const name of REQUIRED) expect(card).toHaveProperty(name);
    for (const name of SKILL_REQUIRED) expect(card.skills[0]).toHaveProperty(name);
  });

  it('has only members of the 1.0 card, whatever the definition contains', () => {
    const definition = { name: 'a', description: 'A.', run: () => '', recovery: 'fail', open: () => 1 };
    const card = createCard(definition);
    expect(writeCard(card, { form: 'strict' })).toEqual(card);
  });

  it('uses the id of a skill without a name as its name', () => {
    const { skills } = createCard({ name: 'a', description: 'A.', skills: [{ id: 'sum', description: 'Adds.' }] });
    expect(skills).toEqual([{ id: 'sum', name: 'sum', description: 'Adds.', tags: ['sum'] }]);
  });

  it('copies the other members', () => {
    const rest = {
      provider: { organization: 'Us', url: 'https://us.example' },
      documentationUrl: 'https://us.example/docs',
      iconUrl: 'https://us.example/icon.png',
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      securityRequirements: [{ schemes: { key: {} } }],
    } as const;
    const card = createCard({
      name: 'a',
      description: 'A.',
      version: '2.1.0',
      inputModes: ['image/*'],
      outputModes: ['text/html'],
      ...rest,
    });
    expect(card).toMatchObject({ ...rest, version: '2.1.0', defaultInputModes: ['image/*'], defaultOutputModes: ['text/html'] });
  });

  it('keeps the given capabilities', () => {
    const extensions = [{ uri: 'urn:x' }];
    const card = createCard({ name: 'a', description: 'A.', capabilities: { streaming: false, extensions } });
    expect(card.capabilities).toEqual({ streaming: false, pushNotifications: true, extensions });
  });

  it('has a skill with an id even if the name has no letters', () => {
    const [skill] = createCard({ name: '???', description: 'A.' }).skills;
    expect(skill?.id).toBe('agent');
  });
});
