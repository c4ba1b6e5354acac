/**
 * Standard Schema (standardschema.dev), version 1: what zod, valibot, arktype and others offer under `~standard`. The interface is
 * public for everybody to declare, so no package is needed. `jsonSchema` is its newer companion, which not every library has.
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

export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that transforms has two shapes: what it takes and what it gives. */
export type SchemaSide = 'input' | 'output';
