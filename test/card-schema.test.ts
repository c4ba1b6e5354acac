import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BINDINGS } from '#bindings';
import { interfacesFor, writeCard } from '#protocol';
import { CARD_FIELDS } from '../src/protocol/card-fields.ts';
import { card } from './support/arbitrary-cards.ts';
import type { SchemaDocument } from './support/schemas.ts';
import { readProtoPresence, readSchema } from './support/schemas.ts';

describe('the schema of A2A 1.0.1', () => {
  const schema = readSchema('1.0.1');
  const presences = readProtoPresence();

  it('accepts every strict card', () => {
    const isCard = validator(schema);
    fc.assert(
      fc.property(card, (value) => {
        const valid = isCard(JSON.parse(JSON.stringify(writeCard(value, { form: 'strict' }))));
        expect(isCard.errors ?? []).toEqual([]);
        expect(valid).toBe(true);
      }),
    );
  });

  it('refuses a superset card, so this test can fail', () => {
    const isCard = validator(schema);
    const value = { ...fc.sample(card, 1)[0], supportedInterfaces: interfacesFor('https://a.example', BINDINGS) };
    expect(isCard(JSON.parse(JSON.stringify({ ...value, url: 'https://a.example' })))).toBe(false);
  });

  it.each(Object.entries(CARD_FIELDS))('%s has exactly the members that CARD_FIELDS lists', (type, fields) => {
    const properties = schema.$defs?.[type]?.properties ?? {};
    expect(Object.keys(properties).toSorted()).toEqual([...fields.keys()].toSorted());
  });

  it.each(Object.entries(CARD_FIELDS))('%s has the required and oneof members that CARD_FIELDS marks', (type, fields) => {
    const names = (presence: string) => [...fields.values()].filter((field) => field.presence === presence).map((field) => field.name);
    expect(names('required').toSorted()).toEqual((presences.required.get(type) ?? []).toSorted());
    expect(names('oneof').toSorted()).toEqual((presences.oneofs.get(type) ?? []).toSorted());
  });

  it('is read with the messages that the proto has', () => {
    expect(presences.required.get('Message')).toEqual(['messageId', 'role', 'parts']);
    expect(presences.oneofs.get('Part')).toEqual(['text', 'raw', 'url', 'data']);
    expect(presences.required.size).toBe(44);
  });
});

function validator(schema: SchemaDocument): ValidateFunction {
  return new Ajv2020({ strict: false, validateFormats: false }).compile({ ...schema, $ref: '#/$defs/AgentCard' });
}
