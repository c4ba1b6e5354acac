import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { StoreError } from '../shared/store-error.ts';
import { hostOf } from './url.ts';

/** How a connection is encrypted. */
export interface PgTls {
  /** The URL without the parameters of TLS: `pg` understands some of them in another way than libpq, and prints a warning. */
  readonly url: string;
  /** For `pg`. False: not encrypted. */
  readonly ssl: false | ConnectionOptions;
  /** `sslnegotiation` of libpq. */
  readonly negotiation?: 'postgres' | 'direct';
  /** Without TLS if the server has none. */
  readonly isOptional: boolean;
}

/** The values of `sslmode`, as libpq has them, and `no-verify`, which `pg` has. */
const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
type Mode = (typeof MODES)[number];

const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslnegotiation', 'ssl', 'uselibpqcompat'] as const;
type Parameter = (typeof PARAMETERS)[number];

/**
 * What libpq would do with the parameters of a URL and of the environment, with two differences: without `sslmode` nothing is encrypted, and
 * files in `~/.postgresql` are not read. Throws a StoreError for a parameter that is wrong.
 */
export function tlsOf(url: string, env: Readonly<Record<string, string | undefined>> = process.env): PgTls {
  const place = new URL(url);
  const given = (name: Parameter): string | undefined => place.searchParams.get(name) || env[`PG${name.toUpperCase()}`] || undefined;
  const mode = modeOf(given);
  const negotiation = negotiationOf(given('sslnegotiation'));
  const ssl = mode === 'disable' || hostOf(place, env).startsWith('/') ? false : optionsOf(mode, given);
  const ours = PARAMETERS.filter((name) => place.searchParams.has(name));
  for (const name of ours) place.searchParams.delete(name);
  return {
    url: ours.length === 0 ? url : place.href,
    ssl,
    ...(negotiation === undefined || ssl === false ? {} : { negotiation }),
    isOptional: mode === 'prefer' || mode === 'allow',
  };
}

/** Whether an attacker who redirects the connection can read it: it is encrypted, and the certificate of the server is not verified. */
export function isUnverified(url: string, env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const { ssl } = tlsOf(url, env);
  return ssl !== false && ssl.rejectUnauthorized === false;
}

function negotiationOf(named: string | undefined): PgTls['negotiation'] {
  if (named === undefined || named === 'postgres' || named === 'direct') return named;
  throw new StoreError('failed', `sslnegotiation=${named} is unknown. Write postgres or direct`);
}

type Given = (name: Parameter) => string | undefined;

function modeOf(given: Given): Mode {
  const named = given('sslmode');
  const found = MODES.find((mode) => mode === named);
  if (found !== undefined) return found;
  if (named !== undefined)
    throw new StoreError('failed', `sslmode=${named} is unknown. Write disable, prefer, require, verify-ca or verify-full`);
  const ssl = given('ssl');
  if (ssl === 'no-verify') return ssl;
  if (ssl !== undefined && !['true', '1', 'false', '0'].includes(ssl))
    throw new StoreError('failed', `ssl=${ssl} is unknown. Write sslmode=verify-full, or sslmode=disable`);
  const isOn = ssl === 'true' || ssl === '1' || given('sslnegotiation') === 'direct';
  return isOn || given('sslrootcert') !== undefined || given('sslcert') !== undefined ? 'verify-full' : 'disable';
}

function optionsOf(mode: Exclude<Mode, 'disable'>, given: Given): ConnectionOptions {
  const root = given('sslrootcert');
  if (root === 'system' && mode !== 'verify-full') throw new StoreError('failed', SYSTEM);
  const passphrase = given('sslpassword');
  const options: ConnectionOptions = {
    ...fileAs('cert', 'sslcert', given),
    ...fileAs('key', 'sslkey', given),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
  const authority = root === 'system' ? {} : fileAs('ca', 'sslrootcert', given);
  const anyName = { checkServerIdentity: () => undefined };
  switch (mode) {
    case 'verify-full':
      return { ...options, ...authority };
    case 'verify-ca':
      if (root === undefined) throw new StoreError('failed', ANYBODY);
      return { ...options, ...authority, ...anyName };
    case 'require':
      // As libpq: with the certificate of an authority it is verify-ca.
      return root === undefined ? { ...options, rejectUnauthorized: false } : { ...options, ...authority, ...anyName };
    default:
      return { ...options, rejectUnauthorized: false };
  }
}

const ANYBODY =
  'sslmode=verify-ca needs sslrootcert=FILE, the certificate of your own authority: anybody can get a certificate of a public one. Or write sslmode=verify-full, which also compares the host name';

const SYSTEM = 'sslrootcert=system needs sslmode=verify-full: anybody can get a certificate of a public authority';

function fileAs(option: 'ca' | 'cert' | 'key', name: Parameter, given: Given): ConnectionOptions {
  const path = given(name);
  if (path === undefined) return {};
  try {
    return { [option]: readFileSync(path, 'utf8') };
  } catch (cause) {
    throw new StoreError('failed', `${name} of the store can't be read: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

/** A server whose TLS is off. */
export function hasNoTls(thrown: unknown): boolean {
  return thrown instanceof Error && /server does not support SSL connections/.test(thrown.message);
}
