import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/chat/intents/intent.js';
import { type SuggestOptions, suggestResearch } from '../../../src/chat/stages/suggest-research.js';

const KB: Intent = { kind: 'KB', confidence: 1 };
const MCP: Intent = { kind: 'MCP', tool: 'weather', confidence: 1 };
const COMPARES = 'What is the difference between Orion and Vega?';
const given = { question: COMPARES, intents: [KB], offer: 'suggest', datasetIds: undefined } as const;

describe('a research that a chat suggests', () => {
  it.each<[string, string]>([
    ['comparative', COMPARES],
    ['compound', 'What is a run and how is it cancelled?'],
    ['multi-hop', 'Which town does the writer of Orion live in?'],
    ['comparative', '检查点和快照有什么区别？'],
  ])('is for what is %s: %s', (reason, question) => {
    expect(suggestResearch({ ...given, question })).toEqual({ question, reason, depth: 'normal', auto: false });
  });

  it('names the datasets of the chat, and is to be started at once only where the chat is set so', () => {
    expect(suggestResearch({ ...given, datasetIds: ['d'] })).toMatchObject({ dataset_ids: ['d'], auto: false });
    expect(suggestResearch({ ...given, offer: 'auto' })).toMatchObject({ auto: true });
  });

  it.each<[string, Partial<SuggestOptions>]>([
    ['a simple question', { question: 'What is a checkpoint?' }],
    ['how two things are connected, which a graph answers', { question: 'How are Orion and Kafka connected?' }],
    ['what a tool answers', { intents: [MCP] }],
    ['what documents and a tool answer', { intents: [KB, MCP] }],
    ['a chat without datasets', { datasetIds: [] }],
    ['a chat that is set so', { offer: 'off' }],
  ])('is none for %s', (_, change) => {
    expect(suggestResearch({ ...given, ...change })).toBeUndefined();
  });
});
