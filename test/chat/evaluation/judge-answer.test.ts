import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { GoldenQuestion } from '../../../src/chat/evaluation/golden-file.js';
import { judgeAnswer } from '../../../src/chat/evaluation/judge-answer.js';
import type { ChatEnd } from '../../../src/chat/evaluation/score-answer.js';
import { createScriptedModel, type ScriptedCall, type ScriptInput } from '../../../src/models/scripted.js';

const QUESTION: GoldenQuestion = {
  ...{ id: 'q', category: 'c', question: 'Where?', match: 'any', difficulty: 'easy', answerable: true },
  ...{ expected_keywords: ['Oslo', 'Bergen'], expected_sources: [] },
};
const END: ChatEnd = {
  ...{ type: 'final', trace_id: '', total_ms: 1, response: 'In Oslo.', removed_citations: 0, shortcut: null },
  ...{ mode: 'KB', model: 'm', usage: {}, stages: [], degraded: [], evidence: [], citations: [] },
};
const FAILED: ChatEnd = { type: 'error', code: 'MODEL_UNAVAILABLE', message: 'No model.' };

const verdict = (found: string, reason = found) => JSON.stringify({ verdict: found, reason });
/** Says one thing when the answer comes first, another when it comes behind what is expected. */
const script = (first: string, second: string): ScriptInput => ({
  rules: [
    { when: { user: '"texts":\\[\\{"text":"answer"' }, reply: first },
    { when: { user: '"texts":\\[\\{"text":"expected"' }, reply: second },
  ],
});

async function judged(given: ScriptInput, question: Partial<GoldenQuestion> = {}, end = END) {
  const calls: ScriptedCall[] = [];
  const model = createScriptedModel(given, { onCall: (call) => calls.push(call) });
  const judgement = await lastValueFrom(judgeAnswer({ model, name: 'judge' }, { ...QUESTION, ...question }, end));
  return { ...judgement, read: calls.map(({ user }) => JSON.parse(user) as { texts: { content: string }[] }) };
}

describe('judgeAnswer', () => {
  it.each<[string, string, string, object]>([
    ['passes in both orders', verdict('pass', 'a'), verdict('pass', 'b'), { verdict: 'pass', reasons: ['a', 'b'] }],
    ['fails in both', verdict('fail'), verdict('fail'), { verdict: 'fail' }],
    ['is undecided when the orders disagree', verdict('pass'), verdict('fail'), { verdict: 'undecided' }],
    ['is undecided the other way round', verdict('fail'), verdict('pass'), { verdict: 'undecided' }],
    [
      'repairs JSON',
      "Sure: {verdict: 'pass', reason: 'yes'",
      verdict('pass'),
      { verdict: 'pass', reasons: ['yes', 'pass'] },
    ],
    ['is not judged without an object', 'It is fine.', verdict('pass'), { verdict: 'not_judged' }],
    ['is not judged by another verdict', verdict('maybe'), verdict('pass'), { verdict: 'not_judged' }],
  ])('%s', async (_, first, second, expected) => {
    expect(await judged(script(first, second))).toMatchObject(expected);
  });

  it('is not judged when the model fails, and says why', async () => {
    const found = await judged({ default: { error: 'overloaded' } });
    expect(found).toMatchObject({ verdict: 'not_judged', reasons: [expect.stringContaining('overloaded')] });
  });

  it.each<[string, Partial<GoldenQuestion>, RegExp]>([
    ['the expected answer', { expected_answer: 'In the capital.' }, /^In the capital\.$/],
    ['one of the keywords', {}, /at least one of these words: "Oslo", "Bergen"/],
    ['all keywords', { match: 'all' }, /all of these words/],
    ['that there is no answer', { answerable: false }, /do not hold the answer/],
  ])('shows the judge %s, before the answer and behind it', async (_, question, said) => {
    const { read } = await judged(script(verdict('pass'), verdict('pass')), question);
    expect(read.map(({ texts }) => texts.map(({ content }) => said.test(content)))).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  it('asks nothing about a chat that failed, or where nothing is expected', async () => {
    expect(await judged({}, {}, FAILED)).toMatchObject({ verdict: 'fail', read: [] });
    expect(await judged({}, { expected_keywords: [] })).toMatchObject({ verdict: 'not_judged', read: [] });
  });
});
