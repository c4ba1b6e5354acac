import { expect, it } from 'vitest';
import { isUnverified, tlsOf } from './tls.ts';

const FILE = new URL(import.meta.url).pathname;
const at = (parameters: string): string => `postgres://parley:se%23cret@db.example.org:5433/parley${parameters}`;
const ssl = (parameters: string, env: Readonly<Record<string, string>> = {}): unknown => tlsOf(at(parameters), env).ssl;
const ca = expect.stringContaining('tlsOf');
const anyName = { checkServerIdentity: expect.any(Function) };

/** https://www.postgresql.org/docs/17/libpq-ssl.html#LIBPQ-SSL-PROTECTION and libpq-connect.html, sslrootcert. */
it.each<[string, unknown]>([
  ['', false],
  ['?sslmode=disable', false],
  ['?sslmode=prefer', { rejectUnauthorized: false }],
  ['?sslmode=require', { rejectUnauthorized: false }],
  [`?sslmode=require&sslrootcert=${FILE}`, { ca, ...anyName }],
  [`?sslmode=verify-ca&sslrootcert=${FILE}`, { ca, ...anyName }],
  [`?sslmode=verify-full&sslrootcert=${FILE}`, { ca }],
  ['?sslmode=verify-full&sslrootcert=system', {}],
  ['?sslmode=verify-full', {}],
  [`?sslrootcert=${FILE}`, { ca }],
  ['?ssl=true', {}],
  ['?sslmode=no-verify', { rejectUnauthorized: false }],
  ['?sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }],
  [`?sslmode=verify-full&sslcert=${FILE}&sslkey=${FILE}&sslpassword=x`, { cert: ca, key: ca, passphrase: 'x' }],
  ['?sslrootcert=system', {}],
  ['?ssl=false', false],
])('%s', (parameters, options) => expect(ssl(parameters)).toEqual(options));

it('reads the environment where the URL says nothing', () => {
  expect(ssl('', { PGSSLMODE: 'require' })).toEqual({ rejectUnauthorized: false });
  expect(ssl('?sslmode=disable', { PGSSLMODE: 'require' })).toBe(false);
  expect(ssl('?sslmode=verify-ca', { PGSSLROOTCERT: FILE })).toEqual({ ca, ...anyName });
});

it.each([
  ['?sslmode=require', true],
  ['?sslmode=prefer', true],
  [`?sslmode=require&sslrootcert=${FILE}`, false],
  ['?sslmode=verify-full', false],
  ['', false],
])('an unverified server: %s', (parameters, unverified) => expect(isUnverified(at(parameters), {})).toBe(unverified));

it('does not encrypt a socket of the machine', () => {
  expect(tlsOf('postgres:///parley?host=/run/postgresql&sslmode=require', {}).ssl).toBe(false);
  expect(tlsOf(at('?host=/run/postgresql&sslmode=require'), {}).ssl).toBe(false);
  expect(tlsOf('postgres://%2Frun%2Fpostgresql/parley?sslmode=require', {}).ssl).toBe(false);
  expect(tlsOf('postgres:///parley?sslmode=require', { PGHOST: '/run/postgresql' }).ssl).toBe(false);
});

it('takes the parameters of TLS out of the URL, and leaves the rest as it is', () => {
  expect(tlsOf(at('?sslmode=require&application_name=x%20y&sslnegotiation=direct'), {})).toMatchObject({
    url: at('?application_name=x+y'),
    negotiation: 'direct',
    isOptional: false,
  });
  expect(tlsOf(at('?options=-c%20x'), {}).url).toBe(at('?options=-c%20x'));
  expect(tlsOf(at('?sslmode=prefer'), {})).toMatchObject({ url: at(''), isOptional: true });
});

it.each([
  ['?sslmode=on', 'sslmode=on is unknown. Write disable, prefer, require, verify-ca or verify-full'],
  ['?sslmode=verify-ca', 'needs sslrootcert=FILE'],
  ['?sslmode=verify-ca&sslrootcert=system', 'sslrootcert=system needs sslmode=verify-full'],
  ['?sslmode=require&sslrootcert=system', 'sslrootcert=system needs sslmode=verify-full'],
  ['?ssl=on', 'ssl=on is unknown'],
  ['?sslmode=verify-full&sslrootcert=/none', "sslrootcert of the store can't be read: ENOENT"],
  ['?sslmode=require&sslnegotiation=often', 'sslnegotiation=often is unknown'],
])('refuses %s', (parameters, words) => {
  expect(() => ssl(parameters)).toThrow(words);
  expect(() => ssl(parameters)).not.toThrow('cret@');
});
