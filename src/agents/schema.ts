import type { Json, JsonObject, SchemaIssue, SchemaSide, StandardSchema } from '#protocol';

/** An issue as a peer reads it: `{ path: 'items[0].price', message: 'must be a number' }`. */
export interface Problem extends JsonObject {
  readonly path: string;
  readonly message: string;
}

/** Result of a validation. */
export type Checked<Output> = { readonly ok: true; readonly value: Output } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Validates a value with a Standard Schema. */
export async function check<Output>(schema: StandardSchema<unknown, Output>, value: unknown): Promise<Checked<Output>> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })) };
}

/** The problems in one line, for people. */
export function sentence(problems: readonly Problem[]): string {
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}

/** A path as people write it: `items[0].price`. */
function pathOf({ path = [] }: SchemaIssue): string {
  let text = '';
  for (const step of path) {
    const key = typeof step === 'object' ? step.key : step;
    text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`;
  }
  return text;
}

/**
 * The schema as JSON Schema, if its library can convert it: by the companion interface, or by a method
 * of the schema (arktype's `toJsonSchema`, others' `toJSONSchema`). A schema that JSON Schema can't
 * express is only named.
 */
export function jsonSchemaOf(schema: StandardSchema, side: SchemaSide): JsonObject | undefined {
  const standard = schema['~standard'];
  const methods = schema as { toJSONSchema?: unknown; toJsonSchema?: unknown };
  const method = methods.toJSONSchema ?? methods.toJsonSchema;
  try {
    if (standard.jsonSchema !== undefined) return plain(standard.jsonSchema[side]({ target: 'draft-2020-12' }));
    return typeof method === 'function' ? plain(method.call(schema)) : undefined;
  } catch {
    return undefined;
  }
}

/** Converted through JSON, because a card is signed and sent: members that JSON lacks are dropped. */
function plain(value: unknown): JsonObject | undefined {
  const copy: Json = JSON.parse(JSON.stringify(value));
  return typeof copy === 'object' && copy !== null && !Array.isArray(copy) ? (copy as JsonObject) : undefined;
}
