import { expect, it } from 'vitest';
import { whyUnusable } from './unusable.ts';

const coded = (code: string, why: string): Error => Object.assign(new Error(why), { code });

/** What the system, Node's TLS and Postgres 15 say. */
it.each([
  ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1', 'Start the server'],
  ['3D000', 'database "nodb" does not exist', 'create the database: createdb --owner USER NAME.'],
  ['28000', 'role "x" does not exist', 'create the role'],
  [
    '28000',
    'no pg_hba.conf entry for host "10.0.0.7", user "parley", database "parley", no encryption',
    'Allow this machine in pg_hba.conf',
  ],
  ['28000', 'role "parley" is not permitted to log in', 'ALTER ROLE USER LOGIN.'],
  ['42501', 'permission denied for database parley', 'GRANT CREATE ON DATABASE'],
  ['42501', 'permission denied for schema parley', 'The tables belong to another role.'],
  ['53300', 'too many connections for role "parley"', 'raise the limit'],
  ['25006', 'cannot execute INSERT in a read-only transaction', 'read-only'],
  ['', 'The server does not support SSL connections', 'Remove sslmode'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'sslrootcert=FILE'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Hostname/IP does not match', 'Use the host name of the certificate'],
])('says what to do about %s: %s', (code, why, advice) => {
  const text = whyUnusable(coded(code, why), why);
  expect(text).toMatch(/[.]$/);
  expect(text).toContain(`${why}. `);
  expect(text.slice(why.length)).toContain(advice);
});

it('adds nothing to what it does not know', () => {
  expect(whyUnusable(coded('XX000', 'why'), 'why')).toBe('why');
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
