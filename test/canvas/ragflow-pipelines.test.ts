/**
 * RAGFlow's own ingestion pipelines, from a file to what is found. They are RAGFlow's and not in this repository: set RAGFLOW_PIPELINES to folders
 * with them, parted by colons (`agent/templates` and `internal/ingestion/pipeline/template` in RAGFlow's sources); otherwise these tests are skipped.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import PdfDocument from 'pdfkit';
import { describe, expect, it } from 'vitest';
import { checkPipeline } from '../../src/canvas/load-pipeline.js';
import { convertMarkdown } from '../../src/documents/index.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { skippedUnless } from '../support/skipped.js';
import { modelOf, pipelineBase } from './support/pipeline-base.js';

const files = (process.env.RAGFLOW_PIPELINES ?? '')
  .split(':')
  .flatMap((folder) =>
    folder === ''
      ? []
      : readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [path.join(folder, name)] : [])),
  );

function read(file: string): JsonObject {
  const all = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;
  return isJsonObject(all.dsl as Json) ? (all.dsl as JsonObject) : all;
}

const typesOf = (dsl: JsonObject): readonly string[] =>
  Object.values(dsl.components as Record<string, { readonly obj: { readonly component_name: string } }>).map(
    ({ obj }) => obj.component_name,
  );

const pipelines = files.filter((file) => typesOf(read(file)).includes('File'));
const isRefused = (file: string): boolean => typesOf(read(file)).includes('Compiler');

const MARKDOWN =
  '# Pumps\n\nA pump moves water uphill.\n\n## Care\n\nOil the pump once a year.\n\n| part | age |\n| --- | --- |\n| pump seal | 3 |\n';

/** A file of each ending that pipelines read and that can be read here. */
const SAMPLES: Readonly<Record<string, () => Promise<Uint8Array>>> = {
  md: async () => Buffer.from(MARKDOWN),
  txt: async () => Buffer.from('What is a pump?\tIt moves water.\nWhy?\tTo water the field.\n'),
  html: async () => Buffer.from('<h1>Pumps</h1><p>A pump moves water.</p>'),
  csv: async () => Buffer.from('part,age\npump,3\nseal,4\n'),
  eml: async () => Buffer.from('From: a@a.example\r\nSubject: Pumps\r\n\r\nThe pump is broken.\r\n'),
  docx: async () => Buffer.from((await convertMarkdown(MARKDOWN, { format: 'docx' })).bytes),
  xlsx: async () => Buffer.from((await convertMarkdown(MARKDOWN, { format: 'xlsx' })).bytes),
  png: async () => Buffer.from('89504e470d0a1a0a', 'hex'),
  pdf: async () => {
    const document = new PdfDocument();
    const parts: Buffer[] = [];
    document.on('data', (part: Buffer) => parts.push(part));
    const ended = once(document, 'end');
    document.text('Chapter I Pumps\nA pump moves water uphill.');
    document.end();
    await ended;
    return Buffer.concat(parts);
  },
};

/** Endings that the Parser of a pipeline reads. */
function endingsOf(dsl: JsonObject): readonly string[] {
  const found = new Set<string>();
  const walk = (value: Json | undefined): void => {
    if (Array.isArray(value)) for (const one of value as readonly Json[]) walk(one);
    else if (value !== undefined && isJsonObject(value)) {
      const { suffix } = value;
      if (Array.isArray(suffix)) for (const one of suffix) found.add(String(one));
      for (const one of Object.values(value)) walk(one);
    }
  };
  walk(dsl.components);
  return Object.keys(SAMPLES).filter((ending) => found.has(ending));
}

describe.skipIf(pipelines.length === 0)(
  skippedUnless(pipelines.length > 0, 'no folder at RAGFLOW_TEMPLATES', 'ingestion pipelines of RAGFlow'),
  () => {
    it.each(pipelines.filter(isRefused))('%s is refused for its Compiler', (file) => {
      const { pipeline, issues } = checkPipeline(read(file));
      expect(pipeline).toBeUndefined();
      expect(issues.map(({ message }) => message).join()).toContain('it compiles knowledge into a graph');
    });

    it.each(pipelines.filter((file) => !isRefused(file)))('%s makes its files searchable', async (file) => {
      const test = pipelineBase({ chat: () => modelOf(() => 'A pump, seen by a model.') });
      const dsl = read(file);
      const endings = endingsOf(dsl);
      const ended: string[] = [];
      for (const ending of endings) {
        const document = await test.ingestBy(dsl, `a.${ending}`, (await SAMPLES[ending]?.()) ?? Buffer.alloc(0));
        const found = await test.found(document.datasetId, 'pump');
        ended.push(`${ending} ${document.run} ${document.chunkCount > 0} ${found.length > 0}`);
      }
      expect(ended).toEqual(endings.map((ending) => `${ending} DONE true true`));
      if (endings.length === 0) {
        // A pipeline of sounds alone needs a model that is named.
        const sound = await test.ingestBy(dsl, 'a.mp3', Buffer.from('494433', 'hex'));
        expect(sound).toMatchObject({ run: 'DONE', chunkCount: 1 });
      }
    });
  },
);
