import { z } from 'zod';
import { splitTemplate } from '../../dsl/reference.js';
import { MAX_KEYWORDS, MAX_QUESTIONS, MAX_TAGS } from '../../ingestion/enrich-chunks.js';
import { extractFacts, extractFound, type PromptedExtraction } from '../../ingestion/extract.js';
import { placeWithin } from '../../ingestion/work.js';
import { flag, nodeParams, nullishText, optionalText, withDefault } from '../base-params.js';
import { modelParams, samplingOf, withUsualNames } from '../chat/params.js';
import { defineComponent } from '../component.js';
import { chunkPorts, pipelineNode } from './pipeline-node.js';
import { storedChunks } from './stored-chunks.js';

/** What a prompt may be asked for. */
const FIELDS = ['', 'summary', 'keywords', 'questions', 'tags', 'metadata'] as const;

const count = (most: number) =>
  withDefault(
    z.coerce
      .number()
      .min(0)
      .catch(0)
      .transform((given) => Math.min(most, Math.floor(given))),
    0,
  );
const wanted = (most: number) => withDefault(z.looseObject({ top_n: count(most) }), { top_n: 0 });

const factDefinition = z.looseObject({ key: z.string().min(1).max(100), description: optionalText });

const params = z.preprocess(
  withUsualNames,
  nodeParams({
    ...modelParams,
    llm_id: optionalText.describe('Model: `model` or `model@Factory`; default the chat model of the server.'),
    keywords: wanted(MAX_KEYWORDS).describe('`{top_n}`: how many keywords each chunk is given; default 0.'),
    questions: wanted(MAX_QUESTIONS).describe('`{top_n}`: how many questions that it answers; default 0.'),
    tags: withDefault(z.looseObject({ top_n: count(MAX_TAGS), tag_file_id: nullishText }), { top_n: 0 }).describe(
      '`{top_n, tag_file_id}`: how many of the tags of a file, or of the datasets in `tag_kb_ids`; default 0.',
    ),
    summary: withDefault(z.looseObject({ enabled: flag(false) }), { enabled: false }).describe(
      '`{enabled}`: whether chunks are searched with a summary, too; default false.',
    ),
    metadata: withDefault(
      z.looseObject({ enabled: flag(false), metadata: withDefault(z.array(factDefinition).max(100), []) }),
      { enabled: false, metadata: [] },
    ).describe('`{enabled, metadata: [{key, description}]}`: facts that are added to the metadata of the document.'),
    field_name: withDefault(z.string(), '').describe(
      'With `prompts`: what the answer is: "summary", "keywords", "questions", "tags" or "metadata" (a JSON object).',
    ),
    sys_prompt: optionalText.describe('With `field_name`: what to do.'),
    prompts: z
      .json()
      .optional()
      .describe('With `field_name`: messages; a reference to `chunks` or `text` of a node is the text of the chunk.'),
  }),
);

type Params = z.output<typeof params>;

/**
 * Extractor: keywords, questions, tags, summaries and facts of chunks, by a model. Without a model, or when it fails, the document is searchable all
 * the same, and its progress says why it has none.
 */
export const extractor = defineComponent<Params>({
  type: 'Extractor',
  group: 'ingestion',
  summary: 'Asks a model about every chunk of an ingestion pipeline: keywords, questions, tags, a summary, facts.',
  thoughts: 'Looking at the chunks.',
  params,
  outputs: chunkPorts,
  timeoutSeconds: null,
  check: ({ field_name: field }) =>
    FIELDS.some((known) => known === field)
      ? []
      : [`"field_name" is "${field}"; an Extractor gives ${FIELDS.slice(1).join(', ')}`],
  create: (given, placement) => {
    const prompted = promptedOf(given);
    return pipelineNode(placement, async (at) => {
      const { facts, rest } = await storedChunks(at);
      const { work, signal } = at;
      if (prompted !== undefined) {
        await extractFound(work, placeWithin(rest, 'extract', 0, 1), prompted, signal);
        return facts;
      }
      const { keywords, questions, tags, summary, metadata, llm_id: llmId } = given;
      const names = metadata.enabled ? metadata.metadata.map(({ key, description }) => [key, description]) : [];
      const wantedOfAll = {
        keywords: keywords.top_n,
        questions: questions.top_n,
        tags: tags.top_n,
        tagFileId: tags.tag_file_id ?? undefined,
        summary: summary.enabled,
        facts: Object.fromEntries(names) as Record<string, string>,
      };
      await extractFacts(work, placeWithin(rest, 'extract', 0, 1), { llmId, ...wantedOfAll }, signal);
      return facts;
    });
  },
});

/** The extraction by prompts, as older documents have it; undefined without a field. */
function promptedOf(given: Params): PromptedExtraction | undefined {
  const { field_name: field, llm_id: llmId, sys_prompt: system, prompts } = given;
  if (field === '') return undefined;
  const messages = [prompts ?? []].flat().flatMap((one) => {
    const content = typeof one === 'string' ? one : (one as { readonly content?: unknown } | null)?.content;
    return typeof content === 'string' && content !== '' ? [content] : [];
  });
  const parts = splitTemplate(messages.join('\n\n'));
  const isNamed = parts.some((part) => part.kind === 'reference' && part.reference.kind === 'output');
  return {
    field: field as PromptedExtraction['field'],
    llmId,
    system,
    sampling: samplingOf({ ...given, llm_id: llmId || 'default' }),
    promptFor(text) {
      const filled = parts.map((part) =>
        part.kind === 'reference' && part.reference.kind === 'output' ? text : part.text,
      );
      return [...filled, ...(isNamed ? [] : [text])].join(isNamed ? '' : '\n');
    },
  };
}
