import { readFileSync } from 'node:fs';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The official schemas, copied unchanged. `test/schemas/README.md` says where each one comes from. */
const FOLDER = new URL('../schemas/', import.meta.url);
const FILES = {
  '0.1.0': 'a2a-0.1.0.schema.json',
  '0.2.0': 'a2a-0.2.0.schema.json',
  '0.2.5': 'a2a-0.2.5.schema.json',
  '0.2.6': 'a2a-0.2.6.schema.json',
  '0.3.0': 'a2a-0.3.0.schema.json',
  /** The main branch after the 0.3.0 tag, with `tasks/list`. */
  '0.3+list': 'a2a-0.3-main-2025-10-16.schema.json',
  '1.0.1': 'a2a-1.0.1.schema.json',
} as const;
export type SchemaVersion = keyof typeof FILES;

/** One version's schema document. Its definitions are under `$defs` or `definitions`, as its version has them. */
export interface SchemaDocument {
  readonly [keyword: string]: unknown;
  readonly $defs?: { readonly [name: string]: { readonly properties?: object } };
}

/** What the proto of A2A 1.0.1 says about the members of each message, by their JSON names. */
export interface ProtoPresence {
  readonly required: ReadonlyMap<string, readonly string[]>;
  readonly oneofs: ReadonlyMap<string, readonly string[]>;
}

const loaded = new Map<SchemaVersion, { readonly ajv: Ajv | Ajv2020; readonly root: string }>();
const compiled = new Map<string, ValidateFunction>();

/** The errors of a value by the definition of that name. The list is empty if the value is valid. */
export function schemaProblems(version: SchemaVersion, definition: string, value: unknown): readonly string[] {
  const key = `${version} ${definition}`;
  const validate = compiled.get(key) ?? compile(version, definition);
  compiled.set(key, validate);
  return validate(value) === true ? [] : (validate.errors ?? []).map(describeError);
}

/** The schema document of a version. That of 1.0.1 has its broken references repaired. */
export function readSchema(version: SchemaVersion): SchemaDocument {
  const schema: SchemaDocument = JSON.parse(readFileSync(new URL(FILES[version], FOLDER), 'utf8'));
  return version === '1.0.1' ? withResolvableReferences(schema) : schema;
}

/** Required fields and oneof members of every message in the proto of A2A 1.0.1. */
export function readProtoPresence(): ProtoPresence {
  const required = new Map<string, string[]>();
  const oneofs = new Map<string, string[]>();
  const proto = readFileSync(new URL('a2a-1.0.1.proto', FOLDER), 'utf8').replaceAll(/\/\/.*$/gm, '');
  for (const [, message = '', body = ''] of proto.matchAll(/^message (\w+) \{(.*?)^\}/gms)) {
    const fields = [...body.matchAll(/^ {2}[\w.<>, ]+ (\w+) = \d+([^;]*);/gm)];
    required.set(
      message,
      fields.filter(([, , options]) => options?.includes('REQUIRED')).map(([, name = '']) => jsonName(name)),
    );
    const oneof = /^ {2}oneof \w+ \{(.*?)^ {2}\}/ms.exec(body)?.[1] ?? '';
    oneofs.set(
      message,
      [...oneof.matchAll(/ (\w+) = \d+/g)].map(([, name = '']) => jsonName(name)),
    );
  }
  return { required, oneofs };
}

/** `oauth2_metadata_url` is `oauth2MetadataUrl` in JSON. */
function jsonName(field: string): string {
  return field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The published 1.0.1 bundle names definitions by title ("Agent Card") and refers to them by file name, so no reference resolves. */
function withResolvableReferences({ definitions, ...rest }: SchemaDocument): SchemaDocument {
  const named = Object.entries(definitions ?? {}).map(([title, definition]) => [title.replaceAll(' ', ''), definition] as const);
  const text = JSON.stringify({ ...rest, $defs: Object.fromEntries(named) });
  return JSON.parse(text.replaceAll(/"\$ref":"[\w.]*?(\w+)\.jsonschema\.json"/g, '"$ref":"#/$defs/$1"'));
}

function compile(version: SchemaVersion, definition: string): ValidateFunction {
  const { ajv, root } = loaded.get(version) ?? load(version);
  const validate = ajv.getSchema(`${version}#/${root}/${definition}`);
  if (validate === undefined) throw new Error(`A2A ${version} has no definition ${definition}`);
  return validate;
}

function load(version: SchemaVersion): { readonly ajv: Ajv | Ajv2020; readonly root: string } {
  const schema = readSchema(version);
  const options: Options = { strict: false, allErrors: true };
  const ajv = version === '1.0.1' ? new Ajv2020(options) : new Ajv(options);
  formats.default(ajv);
  ajv.addSchema(schema, version);
  const found = { ajv, root: '$defs' in schema ? '$defs' : 'definitions' };
  loaded.set(version, found);
  return found;
}

function describeError(error: ErrorObject): string {
  return `${error.instancePath} ${error.message ?? error.keyword} ${JSON.stringify(error.params)}`;
}
