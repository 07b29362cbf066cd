/** Golden questions to the search of datasets. */
import { describe, expect, it } from 'vitest';
import type { MeasuredQuestions } from '../../../src/transport/datasets/evaluate.js';
import { OTHER, startDatasets } from './support/dataset-server.js';

const golden = (id: string, question: string, more: object = {}) => ({ id, category: 'x', question, ...more });

async function station() {
  const server = await startDatasets();
  const id = await server.dataset('station');
  await server.ingest(id, 'lamps.txt', 'The lamp of the station was lit in 1911 by its keeper.');
  await server.ingest(id, 'pumps.txt', 'The pump moves water uphill through a pipe.');
  const measure = (questions: readonly object[], more: object = {}, headers?: Record<string, string>) =>
    server.ask('POST', '/datasets/evaluate', { dataset_ids: [id], questions, ...more }, headers);
  return { ...server, id, measure };
}

describe('the evaluation of a search', () => {
  it('measures what questions expect, and says what was found', async () => {
    const { measure } = await station();
    const { data } = await measure([
      golden('right', 'When was the lamp lit?', { expected_sources: ['LAMPS'], expected_keywords: ['1911'] }),
      golden('wrong', 'When was the lamp lit?', { expected_sources: ['gone.pdf'], expected_keywords: ['1912'] }),
      golden('all', 'lamp', { expected_keywords: ['lamp', 'submarine'], match: 'all' }),
      golden('none', 'Who won the cup?', { answerable: false, expected_sources: ['lamps'] }),
    ]);
    const measures = Object.fromEntries(
      (data.questions as MeasuredQuestions['questions']).map((one) => [one.id, one.measures]),
    );
    expect(measures).toEqual({
      right: { 'hit@1': 1, 'source@k': 1, mrr: 1, 'keyword@k': 1 },
      wrong: { 'hit@1': 0, 'source@k': 0, mrr: 0, 'keyword@k': 0 },
      all: { 'keyword@k': 0 },
      none: {},
    });
    expect(data.questions[0]).toMatchObject({ question: 'When was the lamp lit?', found: [{ document: 'lamps.txt' }] });
  });

  it('is bounded, and takes datasets of the caller and golden questions only', async () => {
    const { measure, id, ask } = await station();
    const many = Array.from({ length: 51 }, (_, at) => golden(`q${at}`, 'lamp'));
    expect(await measure(many)).toMatchObject({ code: 101 });
    expect(await measure([])).toMatchObject({ code: 101 });
    expect(await measure([golden('a', 'lamp')], { page_size: 31 })).toMatchObject({ code: 101 });
    expect(await measure([{ id: 'a', question: 'lamp' }])).toMatchObject({ code: 101 });
    const refusal = { code: 102, message: `You don't own the dataset ${id}.` };
    expect(await measure([golden('a', 'lamp')], {}, OTHER)).toEqual(refusal);
    expect(await ask('POST', '/datasets/evaluate', { questions: [golden('a', 'lamp')] })).toMatchObject({ code: 101 });
  });
});
