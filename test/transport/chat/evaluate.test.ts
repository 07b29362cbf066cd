/** Golden questions to chats: what answers are worth, which way they took, that nothing is kept. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { MeasuredAnswers } from '../../../src/transport/chat/evaluate.js';
import { startServer } from '../support/server.js';
import { startChatServer } from './chat-server.js';

const KEYS = { RUNNEL_API_KEYS: 'ann=secret-key-of-ann,bob=secret-key-of-bob' };
const ANN = { authorization: 'Bearer secret-key-of-ann' };
const BOB = { authorization: 'Bearer secret-key-of-bob' };

const golden = (id: string, question: string, more: object = {}) => ({ id, category: 'x', question, ...more });
const FREE = golden('free', 'Please write a line about lighthouses', { expected_keywords: ['light'] });
const GREETING = golden('hi', 'hello');
const ALONE = { llm_id: 'm', options: { mode: 'SYSTEM' } };

describe('the evaluation of chats', () => {
  it('measures each answer, and names the way that it took and what it cost', async () => {
    const { call, model } = await startChatServer();
    const asked = call('POST', '/api/v1/chat/evaluate', { questions: [FREE], ...ALONE });
    const answer = await model.next();
    answer.say('A light in the dark.');
    answer.finish();
    const { body } = await asked;
    const { questions } = body.data as MeasuredAnswers;
    expect(questions).toMatchObject([
      { id: 'free', category: 'x', route: 'SYSTEM', keywordPass: true, response: 'A light in the dark.', model: 'm' },
    ]);
    expect(questions[0]?.ms).toBeGreaterThanOrEqual(0);
    expect(body.data).not.toHaveProperty('judged_by');
  });

  it('has a model judge answers, in both orders, when that is asked for; tells short circuits', async () => {
    const verdict = '{"verdict":"fail","reason":"no light"}';
    const script = { rules: [{ when: { user: '"texts"' }, reply: verdict }], default: { reply: 'It is dark.' } };
    const { call } = await startServer({ models: JSON.stringify({ scripted: script }) });
    const judged = { questions: [FREE], options: ALONE.options, judge: '' };
    const { body } = await call('POST', '/api/v1/chat/evaluate', judged);
    const judgement = { verdict: 'fail', reasons: ['no light', 'no light'] };
    expect(body.data).toMatchObject({
      judged_by: 'the built-in scripted model',
      questions: [{ judgement, keywordPass: false, response: 'It is dark.' }],
    });
    const { body: short } = await call('POST', '/api/v1/chat/evaluate', { questions: [GREETING] });
    expect(short.data.questions).toMatchObject([{ id: 'hi', route: 'B', wrongShortcut: true, shortcut: 'B' }]);
  });

  it('keeps neither runs nor conversations', async () => {
    const { call, ask, stores } = await startChatServer();
    await call('POST', '/api/v1/chat/evaluate', { questions: [GREETING] });
    const { body: chats } = await call('GET', '/api/v1/chats');
    const [{ id }] = chats.data.chats;
    const { body: sessions } = await call('GET', `/api/v1/chats/${id}/sessions`);
    expect(sessions.data).toEqual([]);
    const runs = async () => (await stores.runs.list('local', { agentId: id, offset: 0, limit: 5 })).total;
    expect(await runs()).toBe(0);
    await (await ask({ message: 'hello' })).rest();
    expect(await runs()).toBe(1);
  });

  it('ends the calls of models when its client leaves', async () => {
    const { url, model } = await startChatServer();
    const sent = request(`${url}/api/v1/chat/evaluate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    sent.on('error', () => {});
    sent.end(JSON.stringify({ questions: [FREE], ...ALONE }));
    const answer = await model.next();
    sent.destroy();
    await answer.closed;
  });

  it('is bounded, and takes chats of the caller, known models and golden questions only', async () => {
    const { call } = await startChatServer({ env: KEYS });
    const measure = async (given: object, headers = ANN) =>
      (await call('POST', '/api/v1/chat/evaluate', { questions: [GREETING], ...given }, headers)).body;
    expect(await measure({ questions: Array.from({ length: 11 }, (_, at) => golden(`q${at}`, 'hi')) })).toMatchObject({
      code: 101,
    });
    expect(await measure({ questions: [] })).toMatchObject({ code: 101 });
    expect(await measure({ questions: [{ id: 'a', question: 'hi' }] })).toMatchObject({ code: 101 });
    expect(await measure({ more: 1 })).toMatchObject({ code: 101 });
    expect(await measure({})).toMatchObject({ code: 0 });
    const { body } = await call('GET', '/api/v1/chats', undefined, ANN);
    const [{ id }] = body.data.chats;
    expect(await measure({ chat_id: id })).toMatchObject({ code: 0 });
    expect(await measure({ chat_id: id }, BOB)).toMatchObject({ message: expect.stringContaining('There is no chat') });
  });
});
