import { describe, expect, it } from 'vitest';
import { bgptSearch } from '../../src/tools/bgpt-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const PAPER = {
  title: 'Vitamin D and falls',
  authors: 'Roe J; Poe K',
  journal: 'J Geriatr',
  year: 2024,
  doi: '10.1000/jg.24.1',
  url: 'https://doi.org/10.1000/jg.24.1',
  abstract: 'Short.',
  methods_and_experimental_techniques: 'Double-blind RCT',
  sample_size_and_population_characteristics: 'n=412',
  results_and_conclusions: 'HR 0.91',
  paper_limitations_and_biases: 'single site',
  conflict_of_interest_statements: 'none',
  data_availability_statements: 'on request',
  study_blindspots: 'diet',
  how_to_falsify: 'replication',
};
const routes: Routes = { 'POST /api/mcp-search': { json: { results: [PAPER] } } };
const calling = { args: { query: 'vitamin d' }, params: { api_key: 'bgpt-secret' } };

itBehavesAsUpstreamTool({ tool: bgptSearch, calling, routes, attempts: 1 });

describe('bgpt_search', () => {
  it('asks with its settings and shows what a claim is judged by', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(bgptSearch, upstream.origin, {
      args: { query: 'vitamin d' },
      params: { api_key: 'k', top_n: '3', days_back: '30' },
    });
    const sent = JSON.parse(upstream.asked[0]?.body ?? '');
    expect(sent).toEqual({ query: 'vitamin d', num_results: 3, api_key: 'k', days_back: 30 });
    expect(found.text).toContain(
      [
        '├── Title: Vitamin D and falls',
        '├── URL: https://doi.org/10.1000/jg.24.1',
        '└── Content:',
        'Title: Vitamin D and falls',
        'Authors: Roe J; Poe K',
        'Journal: J Geriatr',
        'Year: 2024',
        'DOI: 10.1000/jg.24.1',
        'Abstract: Short.',
        'Methods: Double-blind RCT',
        'Sample size / population: n=412',
        'Results: HR 0.91',
        'Limitations: single site',
        'Conflicts of interest: none',
        'Data availability: on request',
        'Blind spots: diet',
        'How to falsify: replication',
      ].join('\n'),
    );
    expect(found.outputs.json).toEqual([PAPER]);
  });

  it('takes older names of fields, and marks what is missing', async () => {
    const paper = { doi: '10.1/x', authors: ['A', 'B'], methods: 'survey', sample_size: 12, falsify: 'repeat' };
    const upstream = await startUpstream({ 'POST /api/mcp-search': { json: { results: [paper] } } });
    const { text } = await resultOf(bgptSearch, upstream.origin, { args: { query: 'x' } });
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({ query: 'x', num_results: 10 });
    expect(text).toContain('├── Title: Untitled\n├── URL: 10.1/x');
    expect(text).toContain('Title: -\nAuthors: A, B\nJournal: -');
    expect(text).toContain('Methods: survey\nSample size / population: 12\nResults: -');
    expect(text).toContain('How to falsify: repeat');
  });

  it.each([
    [
      'an error of the service',
      { error: 'free quota exhausted for bgpt-secret' },
      'free quota exhausted for [REDACTED]',
    ],
    ['a list', [], 'the answer is not a JSON object'],
    ['results that are none', { results: 'many' }, 'the "results" of the answer is no list'],
  ])('fails for %s', async (_, json, message) => {
    const upstream = await startUpstream({ 'POST /api/mcp-search': { json } });
    expect((await errorOf(bgptSearch, upstream.origin, calling)).message).toBe(`BGPT error: ${message}`);
  });

  it('finds nothing in an answer without results, or without a question', async () => {
    const upstream = await startUpstream({ 'POST /api/mcp-search': { json: {} } });
    for (const query of ['x', ' ']) {
      const { outputs } = await resultOf(bgptSearch, upstream.origin, { args: { query } });
      expect(outputs).toEqual({ formalized_content: '', json: [] });
    }
    expect(upstream.asked).toHaveLength(1);
  });
});
