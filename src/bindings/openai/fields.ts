import type { Part, RawObject } from '#protocol';
import { A2AError, isObject } from '#protocol';

/** The error for a wrong member of a request. `field` becomes OpenAI's `param`. */
export function wrongField(field: string, problem: string): A2AError {
  return new A2AError('INVALID_PARAMS', `${field} ${problem}`, { field });
}

/** The error for a member or a value that agents have no counterpart for. */
export function notSupported(field: string, why: string): A2AError {
  return new A2AError('INVALID_PARAMS', `${field} is not supported: ${why}`, { field, info: { openai: 'unsupported_parameter' } });
}

export function objectAt(value: unknown, where: string): RawObject {
  if (!isObject(value)) throw wrongField(where, 'must be an object');
  return value;
}

export function requiredText(value: RawObject, name: string, where: string): string {
  const text = value[name];
  if (typeof text !== 'string') throw wrongField(`${where}.${name}`, 'must be text');
  return text;
}

/** A member that is text and not empty. */
export function textIn(value: unknown, name: string): string | undefined {
  const text = isObject(value) ? value[name] : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** A member that must be text if it is given. */
export function optionalText(value: RawObject, name: string): string | undefined {
  const text = value[name] ?? undefined;
  if (text !== undefined && typeof text !== 'string') throw wrongField(name, 'must be text');
  return text;
}

/** A member that must be true or false if it is given. */
export function optionalFlag(value: RawObject, name: string): boolean | undefined {
  const flag = value[name] ?? undefined;
  if (flag !== undefined && typeof flag !== 'boolean') throw wrongField(name, 'must be true or false');
  return flag;
}

interface Guess {
  readonly mediaType: string;
  readonly where: string;
}

/** Reads a file from a `data:` URL or from base64, or refers to it by an http(s) URL. */
export function filePart(url: string, { mediaType, where }: Guess): Part {
  const inline = /^data:([^;,]*)(?:;[^;,]*)*;base64,([A-Za-z0-9+/=_-]*)$/.exec(url);
  if (inline !== null) return { raw: inline[2] ?? '', mediaType: inline[1] || mediaType };
  if (url.startsWith('data:')) throw wrongField(where, 'must be base64');
  if (/^https?:\/\//.test(url)) return { url, mediaType };
  if (/^[A-Za-z0-9+/=\s]+$/.test(url)) return { raw: url.replaceAll(/\s/g, ''), mediaType };
  throw wrongField(where, 'must be a URL or base64');
}
