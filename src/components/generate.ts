import { map } from 'rxjs';
import { z } from 'zod';
import type { CallContext } from '../agents/call-context.js';
import { splitTemplate } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { foundValue, type ValueSource } from '../dsl/resolve.js';
import { isJsonObject, type Json } from '../json.js';
import { nodeParams, nullishText } from './base-params.js';
import type { ReadPrompt } from './chat/messages.js';
import { answerParams, type LlmParams, llmParams, modelParams, withUsualNames } from './chat/params.js';
import { markSeen, pendingReply, textBefore, writeReply } from './chat/replies.js';
import { currentRetrieval } from './chat/retrieval.js';
import { defineComponent } from './component.js';
import { createAsker, llm } from './llm.js';
import { removeThinking } from './speaking/think-text.js';
import type { TextReader } from './values/text-reader.js';

const generateParams = z.preprocess(
  withUsualNames,
  nodeParams({
    ...modelParams,
    prompt: nullishText.describe(
      'The only prompt: the system prompt for the question of the user, or the question itself when it holds {sys.query} or there is no other. {input} is the text before the node; {Name:Id} is the text of a node.',
    ),
    ...answerParams,
  }),
);

type GenerateParams = z.output<typeof generateParams>;

/**
 * An LLM as RAGFlow's oldest documents write it: one `prompt`, and an Answer after it that publishes the reply.
 *
 * The prompt is the system prompt and the user's question follows the history, unless the prompt holds the question or there
 * is none: then it is the user's message. `{input}` in it is the text before the node: the text of a node that leads
 * here, else of a Generate that no Answer has published, else the passages found in this turn, else the question. Errors: those of
 * an LLM.
 */
export const generate = defineComponent<GenerateParams>({
  ...llm,
  type: 'Generate',
  group: 'model',
  summary: 'Asks a model with one prompt, and leaves the reply to an Answer; for documents from before LLM.',
  params: generateParams,
  outputs: { content: { type: 'string', description: 'The reply.' } },
  streams: () => ['content'],
  needs: (params) => llm.needs?.(asLlm(params, 'sys_prompt')) ?? [],
  create(params, placement) {
    const { upstream, isStreamed } = placement;
    const readPrompt: ReadPrompt = (text, reader, context) =>
      readOldPrompt(text, reader, context, () => inputOf(context, upstream));
    const askAboutQuestion = createAsker(asLlm(params, 'sys_prompt'), placement, readPrompt);
    const askPrompt = createAsker(asLlm(params, 'prompts'), placement, readPrompt);
    const isQuestion = holdsQuestion(params.prompt ?? '');
    return (activation) => {
      const ask = isQuestion || questionIn(activation.source) === '' ? askPrompt : askAboutQuestion;
      return ask(activation).pipe(
        map((event) => {
          if (event.type !== 'settled') return event;
          // Where a Message reads the text live, it has been published already.
          const reply = isStreamed ? '' : removeThinking(renderValue(event.outputs.content));
          return { ...event, writes: [writeReply(activation, reply), ...markSeen(activation, upstream)] };
        }),
      );
    };
  },
});

/** The LLM that a Generate is, with its prompt as the system prompt or as the only message. */
function asLlm({ prompt, ...rest }: GenerateParams, place: 'sys_prompt' | 'prompts'): LlmParams {
  return llmParams.parse(prompt ? { ...rest, [place]: prompt } : rest);
}

function holdsQuestion(prompt: string): boolean {
  return splitTemplate(prompt).some(
    (part) => part.kind === 'reference' && part.reference.kind === 'variable' && part.reference.key === 'sys.query',
  );
}

/** `{input}`, or a component by its id alone; bounded, so that the time is linear. */
const OLD_REFERENCE = /\{{1,3}(input|[A-Za-z]{1,64}:[\w-]{1,200})\}{1,3}/g;

/** Outputs that hold the text of a node, the one that counts first. */
const TEXT_OUTPUTS = ['content', 'formalized_content', 'result', 'query'] as const;

/** Reads a prompt piece by piece, so that nothing in a value is taken for a reference. */
function readOldPrompt(text: string, reader: TextReader, { source }: CallContext, readInput: () => string): string {
  let read = '';
  let from = 0;
  for (const match of text.matchAll(OLD_REFERENCE)) {
    const [written, name = ''] = match;
    const value = name === 'input' ? readInput() : textOfNode(source, name);
    if (value === undefined) continue;
    read += reader.read(text.slice(from, match.index)) + value;
    from = match.index + written.length;
  }
  return read + reader.read(text.slice(from));
}

function inputOf(context: CallContext, upstream: readonly string[]): string {
  const { source } = context;
  return textBefore(context, upstream) || pendingReply(context) || passagesIn(source) || questionIn(source);
}

function questionIn(source: ValueSource): string {
  return renderValue(foundValue(source.variable('sys.query'))).trim();
}

function passagesIn(source: ValueSource): string {
  const chunks = currentRetrieval(source)?.chunks;
  if (typeof chunks !== 'object' || chunks === null) return '';
  const texts = Object.values(chunks as Readonly<Record<string, Json>>).map((chunk) =>
    renderValue(isJsonObject(chunk) ? (chunk.content ?? null) : chunk),
  );
  return texts
    .filter((text) => text !== '')
    .map((text) => `- ${text}`)
    .join('\n');
}

/** Undefined when there is no such node: then it is a text in braces. */
function textOfNode(source: ValueSource, node: string): string | undefined {
  const lookups = TEXT_OUTPUTS.map((name) => source.output(node, name));
  if (lookups.some(({ status }) => status === 'unresolved')) return undefined;
  return renderValue(foundValue(lookups.find(({ status }) => status === 'found')));
}
