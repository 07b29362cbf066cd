import { z } from 'zod';
import { entered } from '../tools/fields.js';

/** Parameters that may be absent or null: a text, a switch, a text or several; and one that may be absent and holds any value. */
export const nullishText = z.string().nullish();
export const nullishFlag = z.boolean().nullish();
export const nullishTexts = z.union([z.string(), z.array(z.string())]).nullish();
export const optionalJson = z.json().optional();

/** How ways to a node come together, as the engine knows it. */
const JOIN_MODES = ['all', 'any'] as const;

/**
 * Parameters that every component has. The engine reads them from the document; the schemas contain them so that the
 * catalogue shows them.
 */
const baseParams = {
  description: nullishText.describe('Note for editors of the document; default "".'),
  exception_method: nullishText.describe(
    'What happens when the node fails: "comment" (a default value), "goto" (other nodes); default: the run fails.',
  ),
  exception_default_value: optionalJson.describe('The value that "comment" gives; default none.'),
  exception_goto: nullishTexts.describe('Ids of the nodes that "goto" leads to; default none.'),
  join_mode: z
    .enum(JOIN_MODES, `expected ${JOIN_MODES.map((mode) => `"${mode}"`).join(' or ')}`)
    .nullish()
    .describe(
      'How several ways to the node come together: "all" runs it once, when no way that is still under way can reach it; "any" runs it for each way that comes. Default: "all".',
    ),
};

/** The schema of a component's parameters: its own, behind those that every component has; unknown keys pass. */
export const nodeParams = <S extends z.core.$ZodLooseShape>(own: S) => z.looseObject({ ...baseParams, ...own });

/** The language of a component's templates, a promise of Runnel's: RAGFlow knows Jinja alone. */
export const templateEngine = z.enum(['jinja', 'handlebars'], 'expected "jinja" or "handlebars"').nullish();

/** Ids of nodes: a list, or one id alone as old documents write it. */
export const nodeIds = z.preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(z.string()));

/** A parameter that may be absent or null, which both read as `standard`. */
export function withDefault<T extends z.ZodType>(schema: T, standard: z.output<T>) {
  return schema.nullish().transform((given) => given ?? standard);
}

/** A switch that may be absent or null, which both read as `standard`. */
export const flag = (standard: boolean) => withDefault(z.boolean(), standard);

/** A text that may be absent or null, which both read as empty. */
export const optionalText = withDefault(z.string(), '');

/** Whether a document gives a value; an empty text or list is none. */
export function isGiven(value: unknown): boolean {
  return entered(value) !== undefined && !(Array.isArray(value) && value.length === 0);
}

/**
 * For `z.preprocess`: gives parameters their usual names, where documents of other versions have others; the first one that
 * `isUsable` counts.
 */
export function renaming(otherNames: Readonly<Record<string, readonly string[]>>, isUsable = isGiven) {
  return (params: unknown): unknown => {
    if (typeof params !== 'object' || params === null) return params;
    const given = params as Record<string, unknown>;
    const renamed = { ...given };
    for (const [name, others] of Object.entries(otherNames)) {
      const other = isGiven(given[name]) ? undefined : others.find((candidate) => isUsable(given[candidate]));
      if (other !== undefined) renamed[name] = given[other];
    }
    return renamed;
  };
}
