import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Validate } from '../index.ts';

/**
 * Validates values by JSON Schema, with Ajv. Each schema is compiled once.
 *
 * ```ts
 * const agent = workflowAgent(workflow, { findAgent, validate: ajvValidate() });
 * ```
 */
export function ajvValidate(): Validate {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  return (schema, value) => {
    const check = ajv.compile(schema);
    return check(value) ? undefined : ajv.errorsText(check.errors, { dataVar: 'value' });
  };
}
