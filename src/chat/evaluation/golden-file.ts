/** Golden files: questions to a chat, and what good answers to them are made of. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { parseJson, whyNotJson } from '../../json.js';

/** Questions of one file, and UTF-16 units of one line. */
const MAX_QUESTIONS = 10_000;
const MAX_LINE = 1_048_576;

const text = z.string().trim().min(1);

/** The form of a question. */
export const questionSchema = z.strictObject({
  id: text,
  /** What kind of question it is. */
  category: text,
  question: text,
  /** Words that a good answer holds. @default any answer is good */
  expected_keywords: z.array(text).default([]),
  /** Whether one of the keywords is enough, or all must be there. */
  match: z.enum(['any', 'all']).default('any'),
  /** What a good answer says, for a judge. @default that it holds the keywords */
  expected_answer: text.exactOptional(),
  /** Names of documents, or parts of them, of which one must be among the evidence. @default any evidence is good */
  expected_sources: z.array(text).default([]),
  difficulty: z.enum(['easy', 'medium', 'hard']).default('medium'),
  /** Whether the documents hold an answer; for one that they do not, evidence is wrong and a short circuit is right. */
  answerable: z.boolean().default(true),
  language: text.exactOptional(),
});

/** A question with what is expected of its answer. */
export type GoldenQuestion = Readonly<z.output<typeof questionSchema>>;

/**
 * Reads a golden file: one JSON object a line; empty lines do not count.
 *
 * @param file its name, for messages
 * @throws EngineError USAGE naming the line that cannot be read, an id that comes twice, and a file without any question
 */
export function readGolden(content: string, file: string): readonly GoldenQuestion[] {
  const questions = new Map<string, GoldenQuestion>();
  for (const [at, line] of content.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const refuse = (why: string): EngineError =>
      new EngineError('USAGE', `Cannot evaluate: line ${at + 1} of "${file}" ${why}.`);
    if (line.length > MAX_LINE || questions.size >= MAX_QUESTIONS) throw refuse('is too long, or there are too many');
    const value = parseJson(line);
    if (value === undefined) throw refuse(whyNotJson(line));
    const parsed = questionSchema.safeParse(value);
    if (!parsed.success) throw refuse(`is no question: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
    if (questions.has(parsed.data.id)) throw refuse(`has the id "${parsed.data.id}" of another question`);
    questions.set(parsed.data.id, parsed.data);
  }
  if (questions.size === 0) throw new EngineError('USAGE', `Cannot evaluate: "${file}" has no question.`);
  return [...questions.values()];
}

/** A text as golden questions compare it: without case, and with one form for each character. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
