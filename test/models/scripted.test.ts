import { firstValueFrom, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { ChatMessage, ChatModel } from '../../src/models/chat-model.js';
import { type ChatAnswer, collectAnswer } from '../../src/models/collect-answer.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import { createScriptedModel, type ScriptedCall } from '../../src/models/scripted.js';

const tool = { name: 't', description: '', parameters: {} };
const system = (content: string): ChatMessage => ({ role: 'system', content });
const user = (content: string): ChatMessage => ({ role: 'user', content });
const result = (content: string): ChatMessage => ({ role: 'tool', content, toolCallId: 'call_0' });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

/** The answer, which must be there when `subscribe` returns: the scripted model is synchronous. */
function ask(model: ChatModel, messages: readonly ChatMessage[], hasTools = false): ChatAnswer {
  let answer: ChatAnswer | undefined;
  let failure: unknown;
  model
    .chat({ model: 'scripted', messages, ...(hasTools && { tools: [tool] }) })
    .pipe(collectAnswer())
    .subscribe({
      next: (value) => {
        answer = value;
      },
      error: (error: unknown) => {
        failure = error;
      },
    });
  if (failure !== undefined) throw failure;
  if (answer === undefined) throw new Error('The scripted model did not answer synchronously.');
  return answer;
}

const text = (script: ScriptInput, messages: readonly ChatMessage[], hasTools = false): string =>
  ask(createScriptedModel(script), messages, hasTools).text;

describe('createScriptedModel', () => {
  it.each<[string, ScriptInput, readonly ChatMessage[], string]>([
    ['echoes without rules', {}, [system('s'), user('hey')], 'echo: hey'],
    ['echoes a user text as it is', {}, [user('$user and $system')], 'echo: $user and $system'],
    ['echoes nothing when nobody spoke', {}, [system('s')], 'echo: '],
    ['echoes the last user text, not the first', {}, [user('a'), assistant('b'), user('c')], 'echo: c'],
    ['answers by the default', { default: { reply: 'd' } }, [user('x')], 'd'],
    ['takes the first rule that matches', { rules: [{ when: {}, reply: '1' }, { reply: '2' }] }, [user('x')], '1'],
    ['searches the user text', { rules: [{ when: { user: 'QB' }, reply: 'bug' }] }, [user('a QB b')], 'bug'],
    ['searches, case and all', { rules: [{ when: { user: 'qb' }, reply: 'bug' }] }, [user('QB')], 'echo: QB'],
    ['anchors only when told', { rules: [{ when: { user: '^b' }, reply: '!' }] }, [user('ab')], 'echo: ab'],
    [
      'searches the system text',
      { rules: [{ when: { system: '^POET' }, reply: 'p' }] },
      [system('POET x'), user('u')],
      'p',
    ],
    ['finds no system text', { rules: [{ when: { system: 'x' }, reply: 'p' }] }, [user('x')], 'echo: x'],
    [
      'wants all conditions',
      { rules: [{ when: { system: 's', user: 'no' }, reply: 'p' }] },
      [system('s'), user('u')],
      'echo: u',
    ],
    [
      'takes a tool result for the last text',
      { rules: [{ when: { user: '^42$' }, reply: 'r: $user' }] },
      [user('q'), result('42')],
      'r: 42',
    ],
    [
      'does not take an assistant text for it',
      { rules: [{ when: { user: 'q' }, reply: 'r' }] },
      [user('q'), assistant('a')],
      'r',
    ],
    ['fills in both texts', { rules: [{ reply: '$system/$user/$users' }] }, [system('S'), user('U')], 'S/U/Us'],
    ['fills in once', { rules: [{ reply: '$system' }] }, [system('$user'), user('U')], '$user'],
    ['joins several system messages', { rules: [{ reply: '$system' }] }, [system('a'), system('b'), user('U')], 'a\nb'],
    ['joins a stream', { rules: [{ reply_stream: ['a', ' $user', ''] }] }, [user('u')], 'a u'],
    ['skips a rule that may not be used', { rules: [{ reply: 'a', times: 0 }] }, [user('u')], 'echo: u'],
    [
      'reads the text parts of a message',
      {},
      [
        {
          role: 'user',
          content: [
            { type: 'image_url', url: 'data:,' },
            { type: 'text', text: 'see' },
          ],
        },
      ],
      'echo: see',
    ],
  ])('%s', (_, script, messages, expected) => {
    expect(text(script, messages)).toBe(expected);
  });

  it.each([
    [true, true, 'yes'],
    [true, false, 'echo: u'],
    [false, true, 'echo: u'],
    [false, false, 'yes'],
  ])('with when.tools %s and tools offered %s answers %s', (tools, hasTools, expected) => {
    expect(text({ rules: [{ when: { tools }, reply: 'yes' }] }, [user('u')], hasTools)).toBe(expected);
  });

  it('counts the uses of a rule over all calls', () => {
    const model = createScriptedModel({
      rules: [
        { reply: 'a', times: 2 },
        { when: { user: 'x' }, reply: 'b', times: 1 },
      ],
    });
    const answers = ['x', 'y', 'y', 'x', 'x'].map((words) => ask(model, [user(words)]).text);
    expect(answers).toEqual(['a', 'a', 'echo: y', 'b', 'echo: x']);
  });

  it('counts per model', () => {
    const script: ScriptInput = { rules: [{ reply: 'a', times: 1 }] };
    expect([text(script, [user('x')]), text(script, [user('x')])]).toEqual(['a', 'a']);
  });

  it('is cold: nothing is counted or told before somebody subscribes', () => {
    const calls: ScriptedCall[] = [];
    const model = createScriptedModel({ rules: [{ reply: 'a', times: 1 }] }, { onCall: (call) => calls.push(call) });
    const answer$ = model.chat({ model: 'scripted', messages: [user('x')] });
    expect(calls).toEqual([]);
    expect(ask({ chat: () => answer$ }, []).text).toBe('a');
    expect(ask({ chat: () => answer$ }, []).text).toBe('echo: x');
    expect(calls).toHaveLength(2);
  });

  it('calls tools', () => {
    const rules = [{ tool_calls: [{ name: 'add', arguments: { x: 1 } }, { name: 'now' }] }];
    const answer = ask(createScriptedModel({ rules }), [user('u')], true);
    expect(answer.finishReason).toBe('tool_calls');
    expect(answer.toolCalls).toEqual([
      { id: 'call_0', name: 'add', arguments: '{"x":1}' },
      { id: 'call_1', name: 'now', arguments: '{}' },
    ]);
  });

  it('fails as told, as a server that may recover', () => {
    const model = createScriptedModel({ rules: [{ error: 'down', times: 1 }] });
    expect(() => ask(model, [user('u')])).toThrow(
      expect.objectContaining({ code: 'MODEL_UNAVAILABLE', retryable: true, message: expect.stringContaining('down') }),
    );
    expect(ask(model, [user('u')]).text).toBe('echo: u');
  });

  it('fails by default when the default says so', () => {
    expect(() => text({ default: { error: 'always' } }, [user('u')])).toThrow('always');
  });

  it('streams pieces, tells thinking from text, counts tokens and finishes last', async () => {
    const model = createScriptedModel({
      rules: [{ reply_stream: ['<think>', 'let me', ' see', '</think>', 'Answer'] }],
    });
    expect(await firstValueFrom(model.chat({ model: 'm', messages: [user('12345')] }).pipe(toArray()))).toEqual([
      { type: 'thinking', text: 'let me' },
      { type: 'thinking', text: ' see' },
      { type: 'text', text: 'Answer' },
      { type: 'usage', promptTokens: 2, completionTokens: 8, totalTokens: 10 },
      { type: 'finish', reason: 'stop' },
    ]);
  });

  it('tells an observer of every call', () => {
    const calls: ScriptedCall[] = [];
    const model = createScriptedModel({}, { onCall: (call) => calls.push(call) });
    ask(model, [system('S'), user('a'), assistant('b'), user('c')], true);
    expect(calls).toEqual([
      {
        system: 'S',
        user: 'c',
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
          { role: 'user', content: 'c' },
        ],
        tools: true,
      },
    ]);
  });

  it.each([
    [
      'an expression that is none',
      { rules: [{ when: { user: '(' }, reply: 'x' }] },
      'rules[0].when.user is not a regular expression; received "("',
    ],
    ['an unknown key of a rule', { rules: [{ replay: 'x' }] }, 'rules[0].replay: unknown key'],
    [
      'an unknown key of a condition',
      { rules: [{ when: { assistant: 'x' } }] },
      'rules[0].when.assistant: unknown key',
    ],
    ['a negative count', { rules: [{ reply: 'x', times: -1 }] }, 'rules[0].times'],
  ])('refuses %s', (_, script, fragment) => {
    const make = () => createScriptedModel(script as ScriptInput);
    expect(make).toThrow(EngineError);
    expect(make).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(fragment) }),
    );
  });
});

it('gives no piece while the caller is not ready for it', async () => {
  let relieve = (): void => {};
  const pause = new Promise<void>((resolve) => {
    relieve = resolve;
  });
  const model = createScriptedModel({ default: { reply_stream: ['a', 'b'], delay_ms: 1 } });
  const texts: string[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    const ready = () => (texts.length === 1 ? pause : undefined);
    model.chat({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ready }).subscribe({
      next: (piece) => {
        if (piece.type === 'text') texts.push(piece.text);
      },
      error: reject,
      complete: resolve,
    });
  });
  await vi.waitFor(() => expect(texts).toEqual(['a']), 60_000);
  relieve();
  await ended;
  expect(texts).toEqual(['a', 'b']);
});
