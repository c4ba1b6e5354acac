import { existsSync, readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { interfacesFor, writeCard } from '#protocol';
import { CARD_FIELDS } from '../src/protocol/card-fields.ts';
import { card } from './support/arbitrary-cards.ts';
import { suiteNeeding } from './support/needs.ts';

/** The official schema, made readable; beside the repository where it is developed, nowhere else. */
const PLACES = ['../../shared/', '../../../shared/'].map((up) => new URL(`${up}reference/schemas/`, import.meta.url));
const FOLDER = PLACES.find((place) => existsSync(place));

suiteNeeding('../shared/reference/schemas', FOLDER !== undefined, 'the schema of A2A 1.0.1', () => {
  const schema = load<Schema>('a2a-1.0.1.normalized.derived.schema.json');
  const presences = load<Presences>('a2a-1.0.1.required.derived.json');

  it('takes every strict card', () => {
    const isCard = validator(schema);
    fc.assert(
      fc.property(card, (value) => {
        const valid = isCard(JSON.parse(JSON.stringify(writeCard(value, { form: 'strict' }))));
        expect(isCard.errors ?? []).toEqual([]);
        expect(valid).toBe(true);
      }),
    );
  });

  it('would refuse a superset, so this test can fail', () => {
    const isCard = validator(schema);
    const value = { ...fc.sample(card, 1)[0], supportedInterfaces: interfacesFor('https://a.example') };
    expect(isCard(JSON.parse(JSON.stringify({ ...value, url: 'https://a.example' })))).toBe(false);
  });

  it.each(Object.keys(CARD_FIELDS))('has the members that we know of %s, and no others', (type) => {
    const properties = schema.$defs[type]?.properties ?? {};
    expect(Object.keys(properties).toSorted()).toEqual([...CARD_FIELDS[type as keyof typeof CARD_FIELDS].keys()].toSorted());
  });

  it('requires, and chooses one of, what we take to be so', () => {
    for (const [type, fields] of Object.entries(CARD_FIELDS)) {
      const names = (presence: string) => [...fields.values()].filter((field) => field.presence === presence).map((field) => field.name);
      expect(names('required').toSorted(), type).toEqual((presences.required[type] ?? []).toSorted());
      expect(names('oneof').toSorted(), type).toEqual(
        Object.values(presences.oneofs[type] ?? {})
          .flat()
          .toSorted(),
      );
    }
  });
});

interface Schema {
  readonly $defs: { readonly [type: string]: { readonly properties?: object } };
}

interface Presences {
  readonly required: { readonly [type: string]: readonly string[] };
  readonly oneofs: { readonly [type: string]: readonly string[] };
}

function load<T>(name: string): T {
  return JSON.parse(FOLDER === undefined ? '{}' : readFileSync(new URL(name, FOLDER), 'utf8')) as T;
}

function validator(schema: Schema): ValidateFunction {
  return new Ajv2020({ strict: false, validateFormats: false }).compile({ ...schema, $ref: '#/$defs/AgentCard' });
}
