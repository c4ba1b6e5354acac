import { existsSync, readFileSync } from 'node:fs';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The official JSON Schemas, which stand beside this repository and not in it. */
const FOLDER = new URL('../../../shared/reference/schemas/', import.meta.url);
const FILES = {
  '0.2.0': 'a2a-0.2.0.schema.json',
  '0.2.5': 'a2a-0.2.5.schema.json',
  '0.2.6': 'a2a-0.2.6.schema.json',
  '0.3.0': 'a2a-0.3.0.schema.json',
  /** Main after the tag, with `tasks/list`. */
  '0.3+list': 'a2a-0.3-post-tasks-list-20251016.schema.json',
  /** The published bundle has references that lead nowhere; this one is the same with them mended. */
  '1.0.1': 'a2a-1.0.1.normalized.derived.schema.json',
} as const;
export type SchemaVersion = keyof typeof FILES;

export const SCHEMAS: { readonly what: string; readonly areThere: boolean } = {
  what: '../shared/reference/schemas',
  areThere: existsSync(FOLDER),
};

const loaded = new Map<SchemaVersion, { readonly ajv: Ajv | Ajv2020; readonly root: string }>();
const compiled = new Map<string, ValidateFunction>();

/** What is wrong with a value, by the definition of that name; nothing if it is valid. */
export function schemaProblems(version: SchemaVersion, definition: string, value: unknown): readonly string[] {
  const key = `${version} ${definition}`;
  const validate = compiled.get(key) ?? compile(version, definition);
  compiled.set(key, validate);
  return validate(value) === true ? [] : (validate.errors ?? []).map(said);
}

function compile(version: SchemaVersion, definition: string): ValidateFunction {
  const { ajv, root } = loaded.get(version) ?? load(version);
  const validate = ajv.getSchema(`${version}#/${root}/${definition}`);
  if (validate === undefined) throw new Error(`A2A ${version} has no definition ${definition}`);
  return validate;
}

function load(version: SchemaVersion): { readonly ajv: Ajv | Ajv2020; readonly root: string } {
  const schema = JSON.parse(readFileSync(new URL(FILES[version], FOLDER), 'utf8'));
  const options: Options = { strict: false, allErrors: true };
  const ajv = '$defs' in schema ? new Ajv2020(options) : new Ajv(options);
  formats.default(ajv);
  ajv.addSchema(schema, version);
  const found = { ajv, root: '$defs' in schema ? '$defs' : 'definitions' };
  loaded.set(version, found);
  return found;
}

function said(error: ErrorObject): string {
  return `${error.instancePath} ${error.message ?? error.keyword} ${JSON.stringify(error.params)}`;
}
