/** Problems of documents as the API gives them, and what is said of a document that is looked at alone. */
import { z } from 'zod';
import { string, whole } from '../shapes.js';

const issueShape = z.looseObject({
  code: string,
  severity: z.enum(['error', 'warning']),
  path: string.describe('A JSON path into the document.'),
  message: string,
  component: string.optional().describe('Id of the component concerned.'),
});

export const issuesShape = z.array(issueShape);

export const validationShape = z.looseObject({
  valid: z.boolean().describe('Whether it can run, or ingest, as it is.'),
  kind: z.enum(['agent', 'pipeline']).nullable().describe('What answers, or what ingests; null: it cannot be read.'),
  version: z
    .union([z.literal(1), z.literal(2)])
    .nullable()
    .describe('Of the DSL; null: it cannot be read.'),
  components: whole,
  types: z.record(string, whole).describe('How many components it has of each type.'),
  unknown_types: z.array(string).describe('Types that this server does not have.'),
  losses: z
    .array(z.looseObject({ part: string, message: string }))
    .describe('What an export in version 2 of the DSL would leave out; `document`: it cannot be written so at all.'),
  issues: issuesShape,
});

/** A problem of a document. */
export type Issue = z.output<typeof issueShape>;

/** What is said of a document. */
export type Validation = z.output<typeof validationShape>;
