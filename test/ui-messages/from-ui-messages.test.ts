import { describe, expect, it } from 'vitest';
import { fromUiMessages, type UiMessage } from '../../src/index.js';
import type { UiMessagePart } from '../../src/ui-messages/protocol.js';
import { questionId, readQuestionId } from '../../src/ui-messages/question-ids.js';

const user = (...parts: UiMessagePart[]): UiMessage => ({ id: 'u', role: 'user', parts });
const assistant = (...parts: UiMessagePart[]): UiMessage => ({ id: 'a', role: 'assistant', parts });
const text = (said: string): UiMessagePart => ({ type: 'text', text: said });

describe('fromUiMessages', () => {
  it('reads the question, its files and what was said before', () => {
    const request = fromUiMessages([
      user(text('Hello')),
      assistant({ type: 'step-start' }, { type: 'reasoning', text: 'hm' }, text('Hi'), text('there')),
      user(
        { type: 'file', url: 'data:image/png;base64,AA==', mediaType: 'image/png', filename: 'a.png' },
        text('What is this?'),
      ),
    ]);
    expect(request).toEqual({
      query: 'What is this?',
      files: [{ url: 'data:image/png;base64,AA==', mediaType: 'image/png', name: 'a.png' }],
      history: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi\nthere' },
      ],
      answers: {},
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi\nthere' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', url: 'data:image/png;base64,AA==', mimeType: 'image/png' },
          ],
        },
      ],
    });
  });

  it('gives a model the calls that have results, step by step, and no questions', () => {
    const { messages } = fromUiMessages([
      user(text('Go')),
      assistant(
        { type: 'step-start' },
        text('I look.'),
        { type: 'tool-find', toolCallId: '1', state: 'output-available', input: { q: 'a' }, output: { n: 1 } },
        { type: 'dynamic-tool', toolName: 'cut', toolCallId: '2', state: 'output-error', input: {}, errorText: 'no' },
        {
          type: 'tool-mail',
          toolCallId: '3',
          state: 'output-denied',
          input: {},
          approval: { id: 'x', approved: false, reason: 'late' },
        },
        { type: 'tool-open', toolCallId: '4', state: 'input-available', input: {} },
        { type: 'tool-ask', toolCallId: 'ask:r:A#1', state: 'output-available', input: {}, output: 'yes' },
        { type: 'step-start' },
        text('Done.'),
      ),
    ]);
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        toolCalls: [
          { id: '1', name: 'find', arguments: '{"q":"a"}' },
          { id: '2', name: 'cut', arguments: '{}' },
          { id: '3', name: 'mail', arguments: '{}' },
        ],
      },
      { role: 'tool', toolCallId: '1', name: 'find', content: '{"n":1}' },
      { role: 'tool', toolCallId: '2', name: 'cut', content: 'no', isError: true },
      { role: 'tool', toolCallId: '3', name: 'mail', content: 'The user declined this call: late', isError: true },
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  it('answers the newest questions only, by address, the fields of one form together', () => {
    const approval = (field: string, approved: boolean, reason?: string): UiMessagePart => ({
      type: 'tool-search',
      toolCallId: field,
      state: 'approval-responded',
      input: {},
      approval: { id: `allow:new:${field}:Agent:A#4`, approved, ...(reason !== undefined && { reason }) },
    });
    const { answers, run } = fromUiMessages([
      assistant(
        { type: 'tool-ask', toolCallId: 'ask:old:Form:F#1', state: 'output-available', input: {}, output: { a: 1 } },
        approval('call_1', true),
        approval('call_2', false),
        approval('call_3', false, 'too dear'),
        { type: 'tool-ask', toolCallId: 'ask:new:Form:F#9', state: 'output-available', input: {}, output: { b: 2 } },
        { type: 'tool-ask', toolCallId: 'ask:new:Form:G#10', state: 'input-available', input: {} },
      ),
    ]);
    expect(run).toBe('new');
    expect(answers).toEqual({
      'Agent:A#4': { call_1: 'allow', call_2: 'decline', call_3: 'too dear' },
      'Form:F#9': { b: 2 },
    });
  });

  it.each([
    ['no list', 'x'],
    ['a message without parts', [{ role: 'user', content: 'x' }]],
    ['an unknown role', [{ role: 'tool', parts: [] }]],
    ['a part without a type', [{ role: 'user', parts: ['x'] }]],
  ])('refuses %s', (_, given) => {
    expect(() => fromUiMessages(given as never)).toThrow(/^fromUiMessages: "messages/);
  });

  it('takes answers under the names of objects as they are', () => {
    const { answers } = fromUiMessages([
      assistant({
        type: 'tool-ask',
        toolCallId: 'ask:r:__proto__',
        state: 'output-available',
        input: {},
        output: { x: 1 },
      }),
    ]);
    expect(Object.keys(answers)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(answers)).toBe(Object.prototype);
  });
});

describe('questionId', () => {
  it.each([
    { kind: 'ask', run: 'r', address: 'UserFillUp:F#3' },
    { kind: 'approve', run: 'a:b/%', address: 'review/each[3]/send#call_1/approve' },
    { kind: 'decide', run: 'r', address: 'x\ny' },
    { kind: 'allow', run: 'r:1', address: 'Agent:A#4', field: 'call_1' },
  ] as const)('is read as it was written: $address', (asked) => {
    expect(readQuestionId(questionId(asked))).toEqual(asked);
  });

  it.each(['', 'call_1', 'ask:', 'ask:r', 'ask:%:x', 'other:r:x'])('is not %j', (id) => {
    expect(readQuestionId(id)).toBeUndefined();
  });
});
