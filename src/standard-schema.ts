/** The interface that schema libraries share (https://standardschema.dev, version 1). */

/** A schema of any library that implements Standard Schema 1 (zod, valibot, arktype …): it takes an `I` and gives an `O`. */
export interface StandardSchema<I = unknown, O = I> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<O> | Promise<StandardResult<O>>;
    readonly types?: { readonly input: I; readonly output: O } | undefined;
  };
}

/** What validation gives: the value, or what is wrong with it. */
export type StandardResult<O> =
  | { readonly value: O; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value, and where: names and positions, or objects that have them as `key`. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

/** What schema libraries add that can write their schemas down (https://standardschema.dev/json-schema). */
export interface SchemaWriter {
  readonly input: (options: { readonly target: 'draft-2020-12'; readonly libraryOptions?: object }) => unknown;
}

/** Writes a schema down as JSON Schema; undefined when its library cannot. The writer throws for what JSON Schema has no words for. */
export function schemaWriterOf(schema: StandardSchema<unknown, unknown>): SchemaWriter | undefined {
  const standard: StandardSchema['~standard'] & { readonly jsonSchema?: SchemaWriter } = schema['~standard'];
  return standard.jsonSchema;
}

/** The names and positions that lead to an issue; none when it is about the whole value. */
export function pathOfIssue({ path = [] }: StandardIssue): readonly string[] {
  return path.map((part) => String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part));
}
