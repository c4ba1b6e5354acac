import { expect, it } from 'vitest';
import { whyUnusable } from './unusable.ts';

const coded = (code: string): Error => Object.assign(new Error('why'), { code });

it.each([
  ['ECONNREFUSED', 'why. Start the server, or correct the host and port in the URL of the store.'],
  ['3D000', 'why. Correct the URL of the store, or create the database: createdb --owner USER NAME.'],
  ['XX000', 'why'],
])('says what to do about %s', (code, expected) => {
  expect(whyUnusable(coded(code), 'why')).toBe(expected);
});

it('names a missing password in plain words', () => {
  const why = 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string';
  expect(whyUnusable(new Error(why), why)).toBe(
    'the server asks for a password, and the URL has none. Correct the URL of the store: postgres://USER:PASSWORD@HOST/NAME.',
  );
});

it('passes on what is no error', () => {
  expect(whyUnusable('gone', 'gone')).toBe('gone');
});
