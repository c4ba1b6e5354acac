import type { TaskId } from '../../ids.ts';
import type { Json, JsonObject, Metadata } from '../../json.ts';
import type { Decoded, ReadEnv } from '../dialect.ts';

/**
 * Reads unchecked JSON. A reader returns the value or throws a `Fault`; `attempt` turns the fault into
 * a result, so that a dialect never throws on bad input. The path is built only while a fault unwinds,
 * so good input does not pay for it. Readers take the value and its name instead of an object and a
 * key, so that the JavaScript engine can cache property reads.
 */
export type Raw = Readonly<Record<string, unknown>>;
/** Reads unchecked JSON into a value. Fails with `fail`; run it with `attempt`. */
export type Reader<T> = (raw: unknown, env: ReadEnv) => T;

class Fault extends Error {
  path = '';
}

/** Runs a reader and turns its failure into a result. Other exceptions pass through. */
export function attempt<T>(read: Reader<T>, raw: unknown, env: ReadEnv): Decoded<T> {
  try {
    return { ok: true, value: read(raw, env) };
  } catch (thrown) {
    if (thrown instanceof Fault) return { ok: false, reason: 'invalid', path: thrown.path, problem: thrown.message };
    throw thrown;
  }
}

/**
 * Rejects the value. `name` is the member that is wrong, or '' for the value itself; `problem` starts
 * with a verb, for example `must be a string`.
 */
export function fail(name: string, problem: string): never {
  const fault = new Fault(problem);
  fault.path = name;
  throw fault;
}

/** Reads a member. A fault inside it gets the whole path. */
export function member<T>(value: unknown, name: string, read: Reader<T>, env: ReadEnv): T {
  try {
    return read(value, env);
  } catch (thrown) {
    throw under(thrown, name);
  }
}

/** Like `member`, but undefined and null mean that the member is absent. */
export function memberIf<T>(value: unknown, name: string, read: Reader<T>, env: ReadEnv): T | undefined {
  return value === undefined || value === null ? undefined : member(value, name, read, env);
}

/** Reads a required list. A failure inside names the index. */
export function list<T>(value: unknown, name: string, read: Reader<T>, env: ReadEnv): T[] {
  if (!Array.isArray(value)) return fail(name, missingOr(value, 'must be an array'));
  let at = 0;
  try {
    // Not by `push`: an array that grows reserves room for 16 more, which the task would keep.
    return value.map((each) => {
      const out = read(each, env);
      at += 1;
      return out;
    });
  } catch (thrown) {
    throw under(thrown, `${name}[${at}]`);
  }
}

/** Like `list`, but the list may be absent. */
export function listIf<T>(value: unknown, name: string, read: Reader<T>, env: ReadEnv): T[] | undefined {
  return value === undefined || value === null ? undefined : list(value, name, read, env);
}

/**
 * Checks the parts of a request's message: every version requires at least one, and the limit is
 * `messagePartsMax`.
 */
export function checkParts(parts: unknown, env: ReadEnv, name = 'parts'): asserts parts is readonly unknown[] {
  if (!Array.isArray(parts)) fail(name, missingOr(parts, 'must be an array'));
  const { length } = parts;
  if (length === 0) fail(name, 'must have at least one part');
  if (length > env.limits.messagePartsMax) fail(name, `must have at most ${env.limits.messagePartsMax} parts`);
}

/** The value as an object. Fails for anything else. */
export function object(raw: unknown): Raw {
  return isRaw(raw) ? raw : fail('', missingOr(raw, 'must be an object'));
}

/** A required string. */
export function text(value: unknown, name: string): string {
  return typeof value === 'string' ? value : fail(name, missingOr(value, 'must be a string'));
}

/** A string that may be absent or null. */
export function textIf(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, name);
}

/** A required string that is not empty. */
export function filledText(value: unknown, name: string): string {
  return text(value, name) || fail(name, 'must not be empty');
}

/** A boolean that may be absent or null. */
export function flagIf(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'boolean' ? value : fail(name, 'must be true or false');
}

/** ProtoJSON allows an int32 as a number or as a numeric string. */
export function countIf(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > 0x7fffffff) {
    return fail(name, 'must be a whole number from 0 to 2147483647');
  }
  return number;
}

/** A list of strings that may be absent. */
export function textsIf<Text extends string>(value: unknown, name: string): Text[] | undefined {
  return value === undefined || value === null ? undefined : texts(value, name);
}

/** A required list of strings. */
export function texts<Text extends string>(value: unknown, name: string): Text[] {
  if (!Array.isArray(value)) return fail(name, missingOr(value, 'must be an array of strings'));
  for (let at = 0; at < value.length; at += 1) text(value[at], `${name}[${at}]`);
  return value;
}

/** An id from the wire. An empty text counts as absent, because proto3 does not distinguish the two. */
export function idIf<Id extends string>(value: unknown, name: string, env: ReadEnv): Id | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return id<Id>(value, name, env);
}

/** A required id: not empty, at most `idCharsMax` characters. */
export function id<Id extends string>(value: unknown, name: string, env: ReadEnv): Id {
  return idWithin<Id>(value, name, env.limits.idCharsMax);
}

const TASK_NAME = 'tasks/';

/** The task of a get, cancel or subscribe: `id`, or one of its names in other versions and in documents of products. */
export function taskIdIn(r: Raw, env: ReadEnv): TaskId {
  const { id: own, taskId, task_id: snake, name } = r;
  if (own === undefined || own === null) {
    if (taskId !== undefined && taskId !== null) return id<TaskId>(taskId, 'taskId', env);
    if (snake !== undefined && snake !== null) return id<TaskId>(snake, 'task_id', env);
    if (typeof name === 'string' && name.startsWith(TASK_NAME)) return id<TaskId>(name.slice(TASK_NAME.length), 'name', env);
  }
  return id<TaskId>(own, 'id', env);
}

/** An id where a product allows more characters than we do. */
export function idWithin<Id extends string>(value: unknown, name: string, charsMax: number): Id {
  if (typeof value !== 'string') return fail(name, missingOr(value, 'must be a string'));
  if (value === '') return fail(name, 'must not be empty');
  if (value.length > charsMax) return fail(name, `must be at most ${charsMax} characters`);
  return value as Id;
}

/**
 * Looks a value up in a table, for example a state by its name on the wire. Fails for unknown values
 * and lists the known ones.
 */
export function oneOf<T>(value: unknown, name: string, known: ReadonlyMap<unknown, T>): T {
  const found = known.get(value);
  if (found !== undefined) return found;
  return fail(name, missingOr(value, `has the unknown value ${shown(value)}; known: ${[...known.keys()].filter(isText).join(', ')}`));
}

/** Free-form metadata that may be absent. */
export function metadataIf(value: unknown, name: string, env: ReadEnv): Metadata | undefined {
  if (value === undefined || value === null) return undefined;
  return isRaw(value) ? freeform(value, name, env) : fail(name, 'must be an object');
}

/**
 * Free-form JSON (metadata, data). It must be possible to write it again: not nested so deep that a
 * stack overflows, no number that JSON lacks, no key that would set a prototype.
 */
export function freeform(value: Raw, name: string, env: ReadEnv): JsonObject;
export function freeform(value: unknown, name: string, env: ReadEnv): Json;
export function freeform(value: unknown, name: string, env: ReadEnv): Json {
  checkFreeform(value, name, env.limits.jsonDepthMax, env.limits.jsonDepthMax);
  return value;
}

/**
 * Throws for values that are not JSON, and for nesting beyond the limit, which could overflow the
 * stack.
 */
function checkFreeform(value: unknown, name: string, left: number, max: number): asserts value is Json {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) fail(name, 'holds a number that is out of range');
    return;
  }
  if (typeof value !== 'object' || value === null) {
    if (value === undefined) fail(name, 'is required');
    return;
  }
  if (left === 0) fail(name, `is nested deeper than ${max}`);
  if (Array.isArray(value)) {
    for (const item of value) checkFreeform(item, name, left - 1, max);
    return;
  }
  for (const key in value) {
    if (key === '__proto__') fail(name, 'must not have the key __proto__');
    checkFreeform((value as Raw)[key], name, left - 1, max);
  }
}

/** `is required` for an absent value, otherwise the given problem. */
export function missingOr(value: unknown, problem: string): string {
  return value === undefined || value === null ? 'is required' : problem;
}

export function isRaw(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** Adds a member's name to the path of an error: `parts` and `[0].text` become `parts[0].text`. */
function under(thrown: unknown, name: string): unknown {
  if (thrown instanceof Fault) {
    thrown.path = thrown.path === '' ? name : thrown.path.startsWith('[') ? name + thrown.path : `${name}.${thrown.path}`;
  }
  return thrown;
}
