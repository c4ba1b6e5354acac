import type { SchemaIssue, StandardSchema } from '#protocol';
import { ClientError } from '../errors/client-error.ts';

/** Type that a schema accepts. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];
/** Type that a schema returns. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Validates a value. The error says where it does not match. */
export async function checked<Schema extends StandardSchema>(schema: Schema, value: unknown, what: string): Promise<OutputOf<Schema>> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const why = result.issues.map(({ message, path = [] }) => `${pathText(path)}${message}`).join('; ');
  throw new ClientError('schema-mismatch', `${what} does not match its schema`, { why });
}

function pathText(path: NonNullable<SchemaIssue['path']>): string {
  if (path.length === 0) return '';
  return `${path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')}: `;
}
