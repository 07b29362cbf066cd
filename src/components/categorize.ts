import { concat, from, type Observable } from 'rxjs';
import { z } from 'zod';
import { type CallContext, contextOf } from '../agents/call-context.js';
import { parseReference } from '../dsl/reference.js';
import { type NodeEvent, settled } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';
import type { ChatMessage } from '../models/chat-model.js';
import { nodeIds, nodeParams, nullishText, withDefault } from './base-params.js';
import { wholeAnswer } from './chat/answers.js';
import { readHistory } from './chat/messages.js';
import { modelParams, openNodeChat, withUsualNames } from './chat/params.js';
import { defineComponent } from './component.js';
import { type CategoryText, categorizeSystem, categorizeUser } from './prompts.js';
import { literally } from './values/literally.js';
import { createTextReader, outputOf } from './values/text-reader.js';

const example = z.preprocess(
  (given) => (typeof given === 'object' && given !== null && 'value' in given ? given.value : given),
  z.string(),
);

/** Old documents hold all examples in one text, one on each line. */
const examples = z.preprocess(
  (given) => (typeof given === 'string' ? given.split(/[\r\n]+/).filter((line) => line.trim() !== '') : given),
  z.array(example, 'expected a list of examples, or one text with an example on each line').nullish(),
);

const category = z.looseObject({
  description: nullishText.describe('What belongs here; default "".'),
  examples: examples.describe('Messages that belong here; default none.'),
  to: nodeIds
    .refine((ids) => ids.length > 0, 'a category needs at least one target')
    .describe('Ids of the nodes that run.'),
});

const categorizeParams = z.preprocess(
  (params) => withUsualNames(withCategories(params)),
  nodeParams({
    ...modelParams,
    llm_id: withDefault(z.string('a model is named by a text').trim(), '').describe(
      'Model: `model`, `model@Factory` or `model@instance@Factory`; default the configured one for chats, as in RAGFlow.',
    ),
    category_description: z
      .record(
        z.string().refine((name) => name.trim() !== '', 'a category needs a name'),
        category,
      )
      .refine((categories) => Object.keys(categories).length > 0, 'at least one category is needed')
      .describe('Categories by name, in order of preference.'),
    query: z
      .string()
      .nullish()
      .transform((query) => query || 'sys.query')
      .describe('Reference to the message to sort; default `sys.query`.'),
    message_history_window_size: z
      .int()
      .min(0)
      .default(1)
      .describe('Pairs of entries of the conversation that the model sees, the message included; default 1.'),
  }),
);

/** Parameters of {@link categorize}. */
export type CategorizeParams = z.output<typeof categorizeParams>;

/** Asks a model which category a message belongs to, and runs the targets of that one. Errors: `MODEL_*` of the model. */
export const categorize = defineComponent<CategorizeParams>({
  type: 'Categorize',
  summary: 'Lets a model sort a message into one of several categories, each with nodes of its own.',
  group: 'flow',
  thoughts: 'Finding the category that fits.',
  params: categorizeParams,
  outputs: {
    category_name: { type: 'string', description: 'Name of the category.' },
    _next: { type: 'array', description: 'Ids of the nodes that run next.' },
  },
  primaryOutput: 'category_name',
  needs: (params) => outputOf(params.query),
  targets: (params) => Object.values(params.category_description).flatMap(({ to }) => to),
  create(params) {
    const categories = Object.entries(params.category_description);
    const system = categorizeSystem(
      categories.map(([name, { description, examples }]): CategoryText => {
        return { name, description: description ?? '', examples: examples ?? [] };
      }),
    );
    const names = categories.map(([name]) => name);
    return (activation) => ask(contextOf(activation), params, system, names);
  },
});

function ask(
  context: CallContext,
  params: CategorizeParams,
  system: string,
  names: readonly string[],
): Observable<NodeEvent> {
  const chat = openNodeChat(context, params);
  const { conversation, warnings } = readConversation(context, params);
  const messages: ChatMessage[] = [
    { role: 'system', content: system },
    { role: 'user', content: categorizeUser(conversation) },
  ];
  return concat(
    from([...chat.warnings, ...warnings]),
    chat.ask(chat.request(messages), (answer$) =>
      wholeAnswer(answer$, (text) => {
        const name = chooseCategory(text, names);
        const next = params.category_description[name]?.to ?? [];
        return [settled({ category_name: name, _next: next }, { next })];
      }),
    ),
  );
}

/** The newest entries of the conversation; the message to sort replaces the last one. */
function readConversation(context: CallContext, { query, message_history_window_size: window }: CategorizeParams) {
  const reader = createTextReader(context);
  const reference = parseReference(query);
  const content = reference === undefined ? reader.read(query) : reader.textOf(reference, query);
  const earlier = readHistory(context.source, window).slice(0, -1);
  return { conversation: [...earlier, { role: 'user', content }], warnings: reader.warnings };
}

/** Other documents hold a list of `items` with names in place of `category_description`. */
function withCategories(params: unknown): unknown {
  const { category_description: given, items } = (params ?? {}) as JsonObject;
  const isGiven = typeof given === 'object' && given !== null && Object.keys(given).length > 0;
  if (isGiven || !Array.isArray(items)) return params;
  const entries = items.map((item) => [String((item as JsonObject | null)?.name ?? ''), item]);
  return { ...(params as JsonObject), category_description: Object.fromEntries(entries) };
}

/**
 * The category that an answer names: one it equals, else the one it names most often, else the last one.
 *
 * Case does not matter, nor do quotes, a final full stop or `Category:` around an equal answer. Names count as whole words
 * first and as parts of words only when no whole word is found; a longer name hides the shorter ones inside of it. Of those
 * named equally often the first declared wins. RAGFlow counts substrings alone.
 */
export function chooseCategory(answer: string, names: readonly string[]): string {
  const text = answer.toLowerCase();
  const bare = bareAnswer(text);
  const equal = names.find((name) => name.trim().toLowerCase() === bare);
  if (equal !== undefined) return equal;
  return mostNamed(text, names, true) ?? mostNamed(text, names, false) ?? (names.at(-1) as string);
}

function bareAnswer(text: string): string {
  const unquoted = (part: string) => part.replace(/^[\s"'`*.。]+|(?<![\s"'`*.。])[\s"'`*.。]+$/g, '');
  return unquoted(unquoted(text).replace(/^category\s*[:：]/, ''));
}

const LETTER = String.raw`[\p{L}\p{N}_]`;

function mostNamed(text: string, names: readonly string[], wholeWords: boolean): string | undefined {
  const longestFirst = names.filter((name) => name.trim() !== '').sort((a, b) => b.length - a.length);
  const counts = new Map<string, number>();
  let rest = text;
  for (const name of longestFirst) {
    const { count, left } = takeOut(rest, name.trim().toLowerCase(), wholeWords);
    counts.set(name, count);
    rest = left;
  }
  let best: string | undefined;
  for (const name of names)
    if ((counts.get(name) ?? 0) > (best === undefined ? 0 : (counts.get(best) ?? 0))) best = name;
  return best;
}

/** Counts a name and puts a mark in its place that no name holds. */
function takeOut(text: string, name: string, wholeWords: boolean): { count: number; left: string } {
  let count = 0;
  const pattern = wholeWords ? `(?<!${LETTER})${literally(name)}(?!${LETTER})` : literally(name);
  const left = text.replace(new RegExp(pattern, 'gu'), () => {
    count += 1;
    return '\n';
  });
  return { count, left };
}
