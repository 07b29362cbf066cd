import { firstValueFrom, NEVER, Observable, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { checkPipeline, loadPipeline } from '../../src/canvas/load-pipeline.js';
import { EngineError } from '../../src/errors.js';
import type { IngestionProgress } from '../../src/knowledge/base/ingestion-hub.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';
import { modelOf, type NodeOf, parserOf, pipelineBase, pipelineOf, questionOf } from './support/pipeline-base.js';

const LEVELS = [['^#[^#]', '^##[^#]']];
const TEXT = '# Cats\n\nCats sleep.\n\n# Dogs\n\nDogs bark.\n';

const chunksOf = async ({ base }: ReturnType<typeof pipelineBase>, documentId: string) =>
  (await base.chunks.list(TENANT, { documentId, offset: 0, limit: 100 })).items;

describe('a pipeline of a canvas', () => {
  it('makes a document searchable, and tells its progress by its nodes', async () => {
    const test = pipelineBase();
    const told: IngestionProgress[] = [];
    const subscription = test.base.progress(TENANT).subscribe((one) => told.push(one));
    const dsl = pipelineOf(
      ['File'],
      parserOf(['md']),
      ['TitleChunker', { levels: LEVELS, hierarchy: 1 }],
      ['Tokenizer'],
    );
    const document = await test.ingestBy(dsl, 'animals.md', TEXT);
    subscription.unsubscribe();
    expect(document).toMatchObject({ run: 'DONE', progress: 1, chunkCount: 2 });
    expect(await test.found(document.datasetId, 'bark')).toEqual(['animals.md: # Dogs\n\nDogs bark.']);
    const nodes = [...new Set(told.map(({ step }) => step.split('/')[0]))];
    expect(nodes).toEqual(['File', 'Parser:N1', 'TitleChunker:N2', 'Tokenizer:N3', '']);
    const shares = told.map(({ progress }) => progress);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
  });

  it('cuts by one chunker what another one made', async () => {
    const test = pipelineBase();
    const tokens = ['TokenChunker', { chunk_token_size: 4, delimiters: ['\n'] }] as const;
    const titles = ['TitleChunker', { levels: LEVELS, hierarchy: 1 }] as const;
    const dsl = pipelineOf(['File'], parserOf(['md']), titles, tokens, ['Tokenizer']);
    const document = await test.ingestBy(dsl, 'animals.md', TEXT);
    const chunks = await chunksOf(test, document.id);
    expect(chunks.map(({ text, headings }) => [text, ...headings])).toEqual([
      ['# Cats', 'Cats'],
      ['Cats sleep.', 'Cats'],
      ['# Dogs', 'Dogs'],
      ['Dogs bark.', 'Dogs'],
    ]);
  });

  it('is searchable without a Tokenizer, and one chunk without a chunker', async () => {
    const test = pipelineBase();
    const document = await test.ingestBy(pipelineOf(['File'], parserOf(['md'])), 'a.md', TEXT);
    expect(document).toMatchObject({ run: 'DONE', chunkCount: 1 });
    expect(await test.found(document.datasetId, 'bark')).toHaveLength(1);
  });

  it('asks a model about every chunk, and stores what it says', async () => {
    const asked: string[] = [];
    const chat = () =>
      modelOf((request) => {
        asked.push(questionOf(request));
        return JSON.stringify({
          keywords: ['animal', 'animal', 'rest'],
          questions: ['Who sleeps?', 'Who barks?'],
          summary: 'About animals.',
          facts: { animals: ['cat', 'dog'], secret: 'x' },
        });
      });
    const test = pipelineBase({ chat });
    const extractor = {
      keywords: { top_n: 1 },
      questions: { top_n: 1 },
      summary: { enabled: true },
      metadata: { enabled: true, metadata: [{ key: 'animals', description: 'which animals' }] },
    };
    const dsl = pipelineOf(['File'], parserOf(['md']), ['TokenChunker'], ['Extractor', extractor], ['Tokenizer']);
    const document = await test.ingestBy(dsl, 'a.md', TEXT);
    expect(document).toMatchObject({ run: 'DONE', metadata: { animals: ['cat', 'dog'] } });
    expect(await chunksOf(test, document.id)).toMatchObject([
      { keywords: ['animal'], questions: ['Who sleeps?'], context: 'About animals.' },
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('Dogs bark.');
  });

  it('asks by prompts in which references stand for the chunk', async () => {
    const asked: string[] = [];
    const chat = () =>
      modelOf((request) => {
        asked.push(questionOf(request));
        return '1. Who sleeps?\n- Who barks?\n';
      });
    const test = pipelineBase({ chat });
    const extractor = {
      field_name: 'questions',
      llm_id: '',
      tenant_llm_id: 63,
      sys_prompt: 'Propose questions.',
      prompts: [{ role: 'user', content: 'Text:\n{TokenChunker:N2@chunks}' }],
    };
    const dsl = pipelineOf(['File'], parserOf(['md']), ['TokenChunker'], ['Extractor', extractor], ['Tokenizer']);
    const document = await test.ingestBy(dsl, 'a.md', TEXT);
    expect(asked).toEqual([`Text:\n${TEXT.trim()}`]);
    expect(await chunksOf(test, document.id)).toMatchObject([{ questions: ['Who sleeps?', 'Who barks?'] }]);
  });

  it.each([
    ['there is none', undefined, 'not enriched: no chat model is configured'],
    [
      'it is away',
      () => modelOf(() => throwError(() => new EngineError('MODEL_UNAVAILABLE', 'It answers 429.'))),
      'not all are enriched: It answers 429.',
    ],
    ['it talks nonsense', () => modelOf(() => 'I would rather not.'), 'not all are enriched: The model was asked'],
  ])('is searchable without what a model would say when %s', async (_, chat, message) => {
    const test = pipelineBase({ chat });
    const extractor = ['Extractor', { keywords: { top_n: 3 } }] as const;
    const dsl = pipelineOf(['File'], parserOf(['md']), ['TokenChunker'], extractor, ['Tokenizer']);
    const document = await test.ingestBy(dsl, 'a.md', TEXT);
    expect(document).toMatchObject({ run: 'DONE', chunkCount: 1 });
    expect(document.progressMsg).toContain(message);
  });

  it.each([false, true])('goes on behind the last node that has finished; canvas changed: %s', async (isChanged) => {
    const test = newBase();
    const pipeline = (chunk_token_size: number) =>
      pipelineOf(
        ['File'],
        parserOf(['md']),
        ['TokenChunker', { chunk_token_size }],
        ['Extractor', { keywords: { top_n: 1 } }],
        ['Tokenizer'],
      );
    const asked$ = new Subject<void>();
    const asked = firstValueFrom(asked$);
    const silent = modelOf(() => {
      asked$.next();
      return NEVER;
    });
    const datasetId = await test.dataset('d', { pipelineId: 'p' });
    const first = test.start({ chat: () => silent, pipelines: async () => loadPipeline(pipeline(512)) });
    const { id } = await test.add(datasetId, 'a.md', TEXT);
    await asked;
    first.unsubscribe();
    const told: string[] = [];
    test.base.progress(TENANT).subscribe(({ step }) => told.push(step));
    const current = loadPipeline(pipeline(isChanged ? 4 : 512));
    test.start({ chat: () => modelOf(() => '{"keywords":["animal"]}'), pipelines: async () => current });
    const document = await test.ended(id);
    expect(document).toMatchObject({ run: 'DONE', chunkCount: isChanged ? 4 : 1 });
    expect(told.includes('Parser:N1')).toBe(isChanged);
  });

  it('is stopped while a node is at work', async () => {
    let closed = 0;
    const asked$ = new Subject<void>();
    const asked = firstValueFrom(asked$);
    const silent$ = new Observable<never>(() => {
      asked$.next();
      return () => {
        closed += 1;
      };
    });
    const test = pipelineBase({ chat: () => modelOf(() => silent$) });
    const extractor = ['Extractor', { keywords: { top_n: 1 } }] as const;
    const dsl = pipelineOf(['File'], parserOf(['md']), ['TokenChunker'], extractor, ['Tokenizer']);
    const ended = test.ingestBy(dsl, 'a.md', TEXT);
    await asked;
    const query = { offset: 0, limit: 1, orderBy: 'name', descending: false } as const;
    const { items } = await test.base.documents.list(TENANT, query);
    for (const { datasetId, id } of items) await test.base.documents.stop(TENANT, datasetId, [id]);
    expect(await ended).toMatchObject({ run: 'CANCEL' });
    expect(closed).toBe(1);
  });

  it('fails for a document that it does not read, and for one that names none', async () => {
    const test = pipelineBase();
    const dsl = pipelineOf(['File'], parserOf(['md']), ['TokenChunker'], ['Tokenizer']);
    const other = await test.ingestBy(dsl, 'a.csv', 'a,b');
    expect(other).toMatchObject({ run: 'FAIL' });
    expect(other.progressMsg).toContain('no setup for "csv". It reads md');
    expect(other.progressMsg).toContain('FILE_UNREADABLE');
    const datasetId = await test.dataset('gone', { pipelineId: 'of another tenant' });
    expect((await test.ingest(datasetId, 'a.md', TEXT)).progressMsg).toContain('There is no agent "of another tenant"');
  });

  it('reads pages, mails and tables of contents as its Parser says', async () => {
    const test = pipelineBase();
    const mail = 'From: a@a.example\r\nTo: b@b.example\r\nSubject: Hi\r\n\r\nBody.\r\n';
    const setups = { email: { suffix: ['eml'], fields: ['subject', 'body'] } };
    const byMail = pipelineOf(['File'], ['Parser', setups], ['OneChunker'], ['Tokenizer']);
    const read = await test.ingestBy(byMail, 'a.eml', mail);
    expect(await test.texts(read.id)).toEqual(['Subject: Hi\n\nBody.']);
    const contents = '# Contents\nPumps ..... 1\nValves ..... 7\n\n# Pumps\nwater';
    const byText = pipelineOf(['File'], parserOf(['md'], { remove_toc: true }), ['OneChunker'], ['Tokenizer']);
    expect(await test.texts((await test.ingestBy(byText, 'a.md', contents)).id)).toEqual(['# Pumps\nwater']);
    // The text of a document that is read in a way of its own goes with it.
    const text = test.base.parts.texts.ownIdOf(read.id);
    expect(await test.base.parts.texts.has(TENANT, text)).toBe(true);
    await test.base.documents.delete(TENANT, read.datasetId, [read.id]);
    expect(await test.base.parts.texts.has(TENANT, text)).toBe(false);
  });

  it('makes a text of a picture by a model that sees it, and of a sound by one that is named', async () => {
    const asked: string[] = [];
    const chat = (_: string, llmId: string) =>
      modelOf((request) => {
        asked.push(`${llmId} ${questionOf(request).slice(0, 12)}`);
        return 'A cat on a mat.';
      });
    const test = pipelineBase({ chat });
    const setups = {
      image: { suffix: ['png'], parse_method: 'ocr' },
      audio: { suffix: ['mp3'], llm_id: 'whisper@A' },
    };
    const dsl = pipelineOf(['File'], ['Parser', setups], ['OneChunker'], ['Tokenizer']);
    const picture = await test.ingestBy(dsl, 'a.png', Buffer.from('89504e470d0a1a0a', 'hex'));
    expect(picture).toMatchObject({ run: 'DONE', chunkCount: 1 });
    const sound = await test.ingestBy(dsl, 'a.mp3', Buffer.from('494433', 'hex'));
    expect(await test.texts(sound.id)).toEqual(['A cat on a mat.']);
    expect(asked.map((one) => one.split(' ')[0])).toEqual(['', 'whisper@A']);
  });
});

describe('checkPipeline', () => {
  const problemsOf = (dsl: unknown) => checkPipeline(dsl).issues.map(({ message }) => message);

  type Case = [what: string, nodes: readonly NodeOf[], message: string];
  const cases: Case[] = [
    ['a Compiler', [['File'], parserOf(['md']), ['TokenChunker'], ['Compiler']], 'it compiles knowledge into a graph'],
    ['no Parser', [['File'], ['TokenChunker'], ['Tokenizer']], 'a Parser has to read the file first'],
    ['File alone', [['File']], 'a pipeline needs a Parser'],
    ['no File', [parserOf(['md']), ['Tokenizer']], 'there is no File component'],
    ['another order', [['File'], parserOf(['md']), ['Tokenizer'], ['TokenChunker']], 'stands in the wrong place'],
    ['two Parsers', [['File'], parserOf(['md']), parserOf(['md'])], 'stands in the wrong place'],
    ['a node of agents', [['File'], parserOf(['md']), ['LLM', { llm_id: 'm' }]], 'There is no component named "LLM"'],
    ['a Parser of nothing', [['File'], ['Parser']], 'it has no kind of files to read'],
    ['no patterns', [['File'], parserOf(['md']), ['TitleChunker']], 'it has no patterns of titles'],
    ['an unknown field', [['File'], parserOf(['md']), ['Extractor', { field_name: 'toc' }]], 'an Extractor gives'],
  ];
  it.each(cases)('refuses a pipeline with %s', (_, nodes, message) => {
    const dsl = pipelineOf(...nodes);
    expect(problemsOf(dsl).join('\n')).toContain(message);
    expect(checkPipeline(dsl).pipeline).toBeUndefined();
  });

  it.each(['constructor', 'toString', '__proto__', 'none'])('reports an edge to %s, which is no node', (target) => {
    const dsl = pipelineOf(['File'], parserOf(['md']), ['Tokenizer']);
    const odd = JSON.parse(JSON.stringify(dsl).replace('"downstream":["Parser:N1"]', `"downstream":["${target}"]`));
    const { pipeline, issues } = checkPipeline(odd);
    expect(pipeline).toBeUndefined();
    expect(issues.filter(({ severity }) => severity === 'error').length).toBeGreaterThan(0);
  });

  it('refuses branches, loops, and an agent', () => {
    const dsl = pipelineOf(['File'], parserOf(['md']), ['TokenChunker'], ['Tokenizer']);
    const components = dsl.components as Record<string, { downstream: string[] }>;
    const branched = {
      ...dsl,
      components: {
        ...components,
        'Parser:N1': { ...components['Parser:N1'], downstream: ['TokenChunker:N2', 'Tokenizer:N3'] },
      },
    };
    expect(problemsOf(branched).join()).toContain('leads to 2 nodes');
    const looped = {
      ...dsl,
      components: { ...components, 'Tokenizer:N3': { ...components['Tokenizer:N3'], downstream: ['File'] } },
    };
    expect(problemsOf(looped).join()).toContain('the line leads back to "File"');
    const agent = {
      components: { begin: { obj: { component_name: 'Begin', params: {} }, downstream: [], upstream: [] } },
    };
    expect(problemsOf({ ...agent, path: [], history: [], retrieval: [] }).join()).toContain(
      'this is no ingestion pipeline',
    );
    for (const bad of [undefined, null, 'x', '{}', [], { components: 7 }])
      expect(checkPipeline(bad).pipeline).toBeUndefined();
  });
});
