import { z } from 'zod';
import { endingOf } from '../../documents/reading/file-kind.js';
import { EngineError } from '../../errors.js';
import { clean, detect, findText, parse, type ReadingPlan } from '../../ingestion/read-document.js';
import { placeWithin } from '../../ingestion/work.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { pageRanges } from '../../knowledge/base/reading-options.js';
import { flag, nodeParams, nullishText } from '../base-params.js';
import { defineComponent } from '../component.js';
import { factsPort, pipelineNode, someTexts } from './pipeline-node.js';

/** Kinds of files, as documents name them. */
const KINDS = [
  'pdf',
  'spreadsheet',
  'doc',
  'docx',
  'markdown',
  'text&code',
  'html',
  'slides',
  'image',
  'email',
  'audio',
  'video',
  'epub',
  'json',
] as const;

const setup = z.looseObject({
  suffix: someTexts.describe('Endings of names that are read this way.'),
  parse_method: nullishText.describe(
    'pdf: "DeepDOC" (default) reads by the layout of pages where a server for it is configured; image: "ocr", or the id of a model.',
  ),
  pages: z.json().optional().describe('pdf: ranges of pages from 1, such as [[1, 20]]; default all.'),
  remove_toc: flag(false).describe('Whether a table of contents is left out. Default: false.'),
  remove_header_footer: flag(false).describe('Whether lines that most pages repeat are left out. Default: false.'),
  flatten_media_to_text: flag(false).describe(
    'Whether tables are cut together with the text around them, rather than as chunks of their own. Default: false.',
  ),
  fields: z
    .array(z.string())
    .nullish()
    .describe('email: from, to, cc, bcc, date, subject, body, attachments; default all.'),
  llm_id: nullishText.describe('image, audio, video: the model; default one that sees pictures.'),
  system_prompt: nullishText.describe(
    'image, audio, video: what the model is asked; default all text, then what is shown.',
  ),
});

type Setup = z.output<typeof setup>;

const params = z.preprocess(
  withSetups,
  nodeParams({
    setups: z
      .record(z.string(), setup)
      .describe(`How each kind of file is read: ${KINDS.join(', ')}. Older documents have them beside each other.`),
  }),
);

/**
 * Parser: the text of the file, by the first setup that has its ending.
 *
 * The text is that of the reader: Markdown for documents with headings and tables, whatever `output_format` says. Errors: FILE_UNREADABLE for a file
 * that no setup takes, and for one that cannot be read.
 */
export const parser = defineComponent({
  type: 'Parser',
  group: 'ingestion',
  summary: 'Reads the file of an ingestion pipeline: pages, tables and headings, pictures by a model that sees them.',
  thoughts: 'Reading the file.',
  params,
  outputs: factsPort,
  timeoutSeconds: null,
  check: ({ setups }) => (Object.keys(setups).length === 0 ? ['it has no kind of files to read'] : []),
  create: ({ setups }, placement) =>
    pipelineNode(placement, async ({ work, place, signal, facts }) => {
      const { document } = work.options;
      if (document.fileId === null) return { ...facts, textId: '' };
      const chosen = setupOf(setups, document.name);
      const plan = planOf(chosen);
      const found = await findText(work, placeWithin(place, 'find', 0, 0.05), plan);
      const made = { ...facts, textId: found.textId, isFlat: chosen.flatten_media_to_text };
      if (found.isRead) {
        await work.tell(place, 'the same bytes were read before');
        return made;
      }
      const detected = await detect(work, placeWithin(place, 'detect', 0.05, 0.1), plan);
      await parse(work, placeWithin(place, 'parse', 0.1, 0.8), detected, { plan, signal });
      const text = { textId: found.textId, form: detected.form };
      await clean(work, placeWithin(place, 'clean', 0.8, 1), text, { plan, signal });
      return made;
    }),
});

function setupOf(setups: Readonly<Record<string, Setup>>, name: string): Setup {
  const ending = endingOf(name);
  const found = Object.values(setups).find(({ suffix }) => suffix.some((one) => one.toLowerCase() === ending));
  if (found !== undefined) return found;
  const known = [...new Set(Object.values(setups).flatMap(({ suffix }) => suffix))].join(', ');
  const message = `File "${name}" cannot be read: the Parser of its pipeline has no setup for "${ending}". It reads ${known}; add the ending to one of its setups, or use another pipeline.`;
  throw new EngineError('FILE_UNREADABLE', message);
}

function planOf(chosen: Setup): ReadingPlan {
  const { parse_method: method, pages, remove_toc, remove_header_footer, fields, llm_id, system_prompt } = chosen;
  // RAGFlow writes the model of pictures in place of the method.
  const named = method && !/^(?:ocr|deepdoc|plain[ _]text)$/i.test(method) ? method : undefined;
  return {
    part: {
      pages: pageRanges(pages),
      dropsContents: remove_toc,
      dropsHeaders: remove_header_footer,
      ...(fields && fields.length < MAIL_FIELDS && { mailFields: fields }),
    },
    hasLayout: !method || method.toLowerCase() === 'deepdoc',
    media: { llmId: llm_id || named, prompt: system_prompt || undefined },
  };
}

/** As many fields as a mail has; a list of all is no choice. */
const MAIL_FIELDS = 8;

/** Setups stand under `setups`, or under the names of their kinds among the parameters. */
function withSetups(given: unknown): unknown {
  if (!isJsonObject(given as Json) || given === null) return given;
  const all = given as JsonObject;
  const inner = all.setups;
  const source = inner !== undefined && isJsonObject(inner) ? inner : all;
  const setups = KINDS.flatMap((kind) => (Object.hasOwn(source, kind) ? [[kind, source[kind]] as const] : []));
  return { ...all, setups: Object.fromEntries(setups) };
}
