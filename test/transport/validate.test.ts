import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentOf, ECHO } from './support/documents.js';
import { startServer } from './support/server.js';

const VALIDATE = '/api/v1/agents/validate';

describe('POST /agents/validate', () => {
  it('says what a document is made of, and keeps nothing', async () => {
    const { call } = await startServer();
    const { body } = await call('POST', VALIDATE, { dsl: ECHO });
    expect(body.data).toMatchObject({
      valid: true,
      kind: 'agent',
      version: 1,
      components: 2,
      types: { Begin: 1, Message: 1 },
      unknown_types: [],
      issues: [],
    });
    expect(body.data.losses.map(({ part }: { part: string }) => part)).toEqual(['graph']);
    expect((await call('GET', '/api/v1/agents')).body.data.total).toBe(0);
  });

  it('finds the issues that saving finds, each with its component', async () => {
    const { call } = await startServer();
    const dsl = documentOf({ begin: ['Begin', ['Magic:M']], 'Magic:M': ['Magic', ['Gone:G']] });
    const { data } = (await call('POST', VALIDATE, { dsl: JSON.stringify(dsl) })).body;
    expect(data).toMatchObject({ valid: false, unknown_types: ['Magic'], types: { Magic: 1 } });
    expect(data.issues).toContainEqual(
      expect.objectContaining({
        code: 'component-unknown',
        component: 'Magic:M',
        path: expect.stringMatching(/^\$\./),
      }),
    );
    const saved = await call('POST', '/api/v1/agents', { title: 'Magic', dsl });
    expect(data.issues).toEqual(saved.body.data.issues);
  });

  it('knows version 2 and templates, and what would be left out', async () => {
    const { call } = await startServer();
    const v2 = { version: 2, components: { begin_: { name: 'Begin', downstream: [], params: {} } } };
    const first = (await call('POST', VALIDATE, { dsl: v2 })).body.data;
    expect(first).toMatchObject({ valid: true, version: 2, components: 1, losses: [] });
    const template = { title: 'T', avatar: 'data:', dsl: { ...ECHO, history: [['user', 'hi']] } };
    const { data } = (await call('POST', VALIDATE, { dsl: template })).body;
    expect(data).toMatchObject({ valid: true, version: 1 });
    expect(data.losses.map(({ part }: { part: string }) => part)).toEqual(['title', 'avatar', 'history', 'graph']);
    const odd = documentOf({ begin: ['Begin', []], ':x': ['Message', [], { content: ['a'] }] });
    expect((await call('POST', VALIDATE, { dsl: odd })).body.data.losses).toEqual([
      { part: 'document', message: expect.stringContaining('has no name before its colon') },
    ]);
  });

  it.each([
    ['no JSON', '{', 'not-json'],
    ['a list', [], 'unknown-version'],
    ['another version', { version: 99 }, 'unknown-version'],
    ['a number', 7, 'unknown-version'],
  ])('says what is wrong with %s', async (_, dsl, code) => {
    const { call } = await startServer();
    const { data } = (await call('POST', VALIDATE, { dsl })).body;
    expect(data).toMatchObject({ valid: false, kind: null, version: null, components: 0, losses: [] });
    expect(data.issues).toContainEqual(expect.objectContaining({ code, severity: 'error' }));
  });

  it('refuses nothing at all, and what is too large to be saved', async () => {
    const { call } = await startServer({ env: { RUNNEL_DOCUMENT_BYTES: '2048' } });
    expect((await call('POST', VALIDATE, {})).body).toMatchObject({ code: 101, message: 'No DSL data in request.' });
    const large = { ...ECHO, history: ['x'.repeat(3_000)] };
    for (const dsl of [large, JSON.stringify(large)]) {
      expect((await call('POST', VALIDATE, { dsl })).body).toMatchObject({
        code: 101,
        message: expect.stringMatching(/has more than 2048 bytes\. RUNNEL_DOCUMENT_BYTES/),
      });
    }
  });

  it('checks pipelines as pipelines', async () => {
    const { call } = await startServer();
    const dsl = documentOf({
      File: ['File', ['Parser:P']],
      'Parser:P': ['Parser', ['OneChunker:C']],
      'OneChunker:C': ['OneChunker', []],
    });
    const { data } = (await call('POST', VALIDATE, { dsl })).body;
    expect(data).toMatchObject({ kind: 'pipeline', version: 1, components: 3, unknown_types: [] });
    expect(data.issues.filter(({ code }: { code: string }) => code === 'ingestion-pipeline')).toEqual([]);
  });

  it('reads every example', async () => {
    const { call } = await startServer();
    const folder = path.resolve('examples');
    const names = readdirSync(folder).filter((name) => existsSync(path.join(folder, name, 'canvas.json')));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const dsl = readFileSync(path.join(folder, name, 'canvas.json'), 'utf8');
      const { data } = (await call('POST', VALIDATE, { dsl })).body;
      expect({ name, valid: data.valid, unknown: data.unknown_types }).toEqual({ name, valid: true, unknown: [] });
    }
  });
});
