import { fail, missingOr } from './read.ts';

const STANDARD_BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const ANY_BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * ProtoJSON: writers produce standard base64 with padding; readers also accept base64url and missing
 * padding (A2A 1.0.1 §5.5).
 */
export function base64(value: unknown, name: string): string {
  if (typeof value !== 'string') return fail(name, missingOr(value, 'must be a base64 string'));
  if (value.length % 4 === 0 && STANDARD_BASE64.test(value)) return value;
  // Checked before the padding is removed: this pattern allows at most two padding characters, and the search for the end of a million
  // would take hours.
  if (!ANY_BASE64.test(value)) return fail(name, 'is not base64');
  const bare = value.replace(/={1,2}$/, '');
  if (bare.length % 4 === 1) return fail(name, 'is not base64');
  return bare
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .padEnd(Math.ceil(bare.length / 4) * 4, '=');
}

/** Timestamps on a day that every month has. Other days need a look at the calendar. */
const PLAIN_UTC = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;
const UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;
const LENIENT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)([Zz]|[+-]\d{2}:?\d{2})?$/;

/**
 * A timestamp in the canonical form: UTC with `Z` (A2A 1.0.1 §5.6.1). 0.x agents send offsets, or no
 * zone, which is read as UTC. Only a timestamp with an offset loses digits finer than a millisecond.
 */
export function timestampIf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return fail(name, 'must be an RFC 3339 timestamp');
  if (PLAIN_UTC.test(value) || (UTC.test(value) && isInCalendar(value))) return value;
  const [, day, time, zone = 'Z'] = LENIENT.exec(value) ?? [];
  const at = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  if (day === undefined || Number.isNaN(at) || !isInCalendar(`${day}T${time}Z`)) return fail(name, 'must be an RFC 3339 timestamp');
  return /^(?:[Zz]|[+-]00:?00)$/.test(zone) ? `${day}T${time}Z` : new Date(at).toISOString();
}

/**
 * `Date` reads 30 February as 1 March and 24:00 as the next day. Go's parsers refuse both, and with
 * them the whole response.
 */
function isInCalendar(utc: string): boolean {
  return new Date(utc).getUTCDate() === Number(utc.slice(8, 10));
}
