/** What a person changes of a research while it is at work. */
import { z } from 'zod';
import { planSchema } from './plan/task-plan.js';

const id = z.string().trim().min(1).max(64);
const text = z.string().trim().min(1).max(2_000);

/** A change, as requests send it. In a research by a plan, tasks are meant where questions are named. */
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
  z.strictObject({ action: z.literal('approve') }).describe('Carries out the plan that was shown.'),
  z.strictObject({
    action: z.literal('clarify'),
    answers: z
      .record(id, z.string().trim().max(2_000))
      .describe('Answers by the ids of the form; what is left out, or empty, has the default of its question.'),
  }),
]);

/** A change, as it is stored: plans were checked before. */
export const storedSteerSchema = z.union([
  steerSchema,
  z.strictObject({ action: z.literal('plan'), plan: planSchema }),
]);

/** One change. */
export type Steer = Readonly<z.output<typeof storedSteerSchema>>;
