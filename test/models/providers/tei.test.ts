import { lastValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Models } from '../../../src/models/router.js';
import { createModels } from '../../../src/models/router.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { answerJson, startServer } from '../fake-server.js';
import { failureOf, hello } from '../model-at.js';

const modelsAt = async (url: string): Promise<Models> => {
  const file = { factories: { Local: { kind: 'tei', base_url: url, models: ['bge'] } } };
  const models = createModels(await modelsFromEnvironment({ RUNNEL_MODELS: 'f' }, async () => JSON.stringify(file)));
  onTestFinished(() => models.close());
  return models;
};

describe('a server of kind "tei"', () => {
  it('embeds, 64 texts a request', async () => {
    const { url, arrived } = await startServer((response, { body }) =>
      answerJson(
        response,
        body.inputs.map((text: string) => [Number(text), 1]),
      ),
    );
    const texts = Array.from({ length: 65 }, (_, at) => String(at));
    const vectors = await (await modelsAt(url)).embedder('bge@Local').embed(texts);
    expect(vectors).toEqual(texts.map((text) => [Number(text), 1]));
    expect(arrived.map(({ path, body }) => [path, body.inputs.length, body.truncate])).toEqual([
      ['/v1/embed', 64, true],
      ['/v1/embed', 1, true],
    ]);
  });

  it('reranks, in the order of the documents', async () => {
    const ranking = [
      { index: 1, score: 7.5 },
      { index: 0, score: -2 },
    ];
    const { url, arrived } = await startServer((response) => answerJson(response, ranking));
    expect(await (await modelsAt(url)).reranker('bge@Local').rerank('q', ['a', 'b'])).toEqual([-2, 7.5]);
    expect(arrived).toMatchObject([{ path: '/v1/rerank', body: { query: 'q', texts: ['a', 'b'], truncate: true } }]);
  });

  it.each([
    ['too few scores', [{ index: 0, score: 1 }], 'gave no score for document 1'],
    ['no ranking', { results: [] }, 'gave no ranking'],
  ])('is told that its answer makes no sense: %s', async (_, answer, message) => {
    const { url } = await startServer((response) => answerJson(response, answer));
    const models = await modelsAt(url);
    const error = await failureOf(models.reranker('bge@Local').rerank('q', ['a', 'b']));
    expect(error).toMatchObject({ code: 'MODEL_RESPONSE', message: expect.stringContaining(message) });
  });

  it('refuses vectors that are missing', async () => {
    const { url } = await startServer((response) => answerJson(response, [[1, 2]]));
    const models = await modelsAt(url);
    const error = await failureOf(models.embedder('bge@Local').embed(['a', 'b']));
    expect(error).toMatchObject({
      code: 'MODEL_RESPONSE',
      message: expect.stringContaining('1 embeddings for 2 texts'),
    });
  });

  it('has no chat models', async () => {
    const { url, arrived } = await startServer((response) => answerJson(response, []));
    const error = await failureOf(lastValueFrom((await modelsAt(url)).chat('bge@Local').model.chat(hello)));
    expect(error).toMatchObject({ code: 'MODEL_UNKNOWN', message: expect.stringContaining('no chat models') });
    expect(arrived).toEqual([]);
  });
});
