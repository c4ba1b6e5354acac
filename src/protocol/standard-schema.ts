/**
 * Standard Schema (standardschema.dev), version 1: the interface that zod, valibot, arktype and others
 * implement under `~standard`. Declared here, as its authors recommend, so that no package is needed.
 * `jsonSchema` is a newer addition that not every library has.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: Readonly<
      Record<SchemaSide, (options: { readonly target: 'draft-2020-12' }) => Readonly<Record<string, unknown>>>
    >;
  };
}

/** Outcome of a validation. */
export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** One reason why a value does not fit. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that transforms values has two shapes: its input and its output. */
export type SchemaSide = 'input' | 'output';
