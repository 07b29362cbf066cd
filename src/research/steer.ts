/** What a person changes of a research while it is at work. */
import { z } from 'zod';

const id = z.string().trim().min(1).max(64);
const text = z.string().trim().min(1).max(2_000);

/** A change, as requests and stores have it. */
export const steerSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('add'), question: text.describe('A further question.') }),
  z.strictObject({ action: z.literal('drop'), question: id.describe('Id of a question that is not needed.') }),
  z.strictObject({
    action: z.literal('answer'),
    question: id.describe('Id of a question.'),
    answer: text.describe('Its answer, which counts as given by the user.'),
  }),
  z.strictObject({
    action: z.literal('order'),
    questions: z.array(id).min(1).max(100).describe('Ids of questions, those to be worked off first in front.'),
  }),
  z.strictObject({ action: z.literal('exclude'), source: text.describe('Name, id or address of a source.') }),
  z.strictObject({ action: z.literal('enough') }).describe('Ends the search; the report is written now.'),
]);

/** One change. */
export type Steer = Readonly<z.output<typeof steerSchema>>;
