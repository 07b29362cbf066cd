import { describe, expect, it } from 'vitest';
import { type ChatMessage, contentText } from '../../src/models/chat-model.js';
import type { AssistantPart } from '../../src/models/content-parts.js';
import { cutToTokens, estimateTokens } from '../../src/models/estimate-tokens.js';
import { fitMessages } from '../../src/models/fit-messages.js';
import { assistantMessage, toolMessage, userMessage } from '../../src/models/messages.js';

/** A text of so many tokens: each of these characters is one. */
const words = (tokens: number, of = '字'): string => of.repeat(tokens);
const system = (tokens: number): ChatMessage => ({ role: 'system', content: words(tokens, '令') });
const user = (tokens: number, of?: string): ChatMessage => ({ role: 'user', content: words(tokens, of) });
const assistant = (tokens: number): ChatMessage => ({ role: 'assistant', content: words(tokens) });
const calling: ChatMessage = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: '1', name: '加', arguments: words(9) }],
};
const result = (tokens: number): ChatMessage => ({ role: 'tool', toolCallId: '1', content: words(tokens) });

/** `role:length` of each message. */
const shape = (messages: readonly ChatMessage[]): string[] =>
  messages.map(({ role, content }) => `${role}:${contentText(content).length}`);

// 97 tokens are usable.
const fitted = (...messages: ChatMessage[]): string[] => shape(fitMessages(messages, { contextLength: 100 }));

describe('fitMessages', () => {
  it.each<[string, ChatMessage[], string[]]>([
    ['keeps what fits exactly', [system(50), user(47)], ['system:50', 'user:47']],
    ['keeps nothing of nothing', [], []],
    [
      'drops the oldest first',
      [system(10), user(30), assistant(30), user(30)],
      ['system:10', 'assistant:30', 'user:30'],
    ],
    ['leaves no gap', [user(1), assistant(60), user(50)], ['user:50']],
    [
      'keeps tool calls with their results',
      [user(50), calling, result(40), user(40)],
      ['assistant:0', 'tool:40', 'user:40'],
    ],
    ['drops tool calls with their results', [user(5), calling, result(60), user(40)], ['user:40']],
    ['keeps the calls of a newest result', [user(80), calling, result(40)], ['assistant:0', 'tool:40']],
    ['cuts a single message', [user(200)], ['user:97']],
    ['cuts a single system message', [system(200)], ['system:97']],
    [
      'cuts the newest message when the system is not much longer',
      [system(60), user(5), user(60)],
      ['system:60', 'user:37'],
    ],
    ['cuts the system when it is much longer', [system(300), user(5), user(30)], ['system:67', 'user:30']],
    [
      'cuts several system messages by their share',
      [system(200), system(100), user(7)],
      ['system:60', 'system:30', 'user:7'],
    ],
  ])('%s', (_, messages, expected) => {
    expect(fitted(...messages)).toEqual(expected);
  });

  it('returns the very list when there is nothing to do', () => {
    const messages = [system(1), user(1)];
    expect(fitMessages(messages)).toBe(messages);
  });

  it('takes 8192 tokens when nobody says', () => {
    expect(shape(fitMessages([user(9_000)]))).toEqual(['user:7946']);
  });

  it('does not count images, and keeps the newest', () => {
    const seen = (...urls: string[]): ChatMessage => ({
      role: 'user',
      content: [...urls.map((url) => ({ type: 'image_url' as const, url })), { type: 'text', text: words(40) }],
    });
    const fitted = fitMessages([seen(words(900), 'b'), seen('c')], { contextLength: 100, maxImages: 2 });
    expect(fitted).toEqual([seen('b'), seen('c')]);
    const cut = fitMessages([seen(words(900))], { contextLength: 20 });
    expect(cut).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', url: words(900) },
          { type: 'text', text: words(19) },
        ],
      },
    ]);
  });

  it('counts and cuts parts; calls, thoughts and what a provider did stay whole', () => {
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: words(10), signature: 'long '.repeat(100) },
      { type: 'text', text: words(10), citations: ['page 1'] },
      { type: 'tool-call', id: '1', name: '加', arguments: words(9) },
    ];
    const answer = assistantMessage(words(10), { parts });
    const last = user(60);
    expect(fitMessages([user(8), answer, last], { contextLength: 100 })).toEqual([answer, last]);
    expect(fitMessages([answer], { contextLength: 20 })).toEqual([
      { ...answer, content: words(10), parts: [parts[0], { ...parts[1], text: words(10) }, parts[2]] },
    ]);
    expect(fitMessages([answer], { contextLength: 5 })).toEqual([
      { ...answer, content: words(4), parts: [parts[0], { ...parts[1], text: words(4) }, parts[2]] },
    ]);
    const search: AssistantPart = { type: 'server-tool-call', id: 's', name: 'web_search', arguments: words(200) };
    expect(fitMessages([assistantMessage('', { parts: [search] }), last], { contextLength: 100 })).toEqual([last]);
  });

  it('counts and cuts results of tools in messages of users, and keeps them with their calls', () => {
    const results = (size: number) => userMessage([{ type: 'tool-result', toolCallId: '1', content: words(size) }]);
    expect(fitMessages([user(50), calling, results(80)], { contextLength: 100 })).toEqual([calling, results(80)]);
    expect(fitMessages([results(200)], { contextLength: 100 })).toEqual([results(97)]);
    const inside = userMessage([
      { type: 'tool-result', toolCallId: '1', content: [{ type: 'text', text: words(80) }] },
    ]);
    expect(fitMessages([user(50), calling, inside], { contextLength: 100 })).toEqual([calling, inside]);
  });

  it('keeps the newest images of questions and of results', () => {
    const image = (name: string) => ({ type: 'image', url: `https://pictures.test/${name}` }) as const;
    const shown = toolMessage('see', '1', { parts: [image('a'), { type: 'text', text: 'see' }, image('b')] });
    const asked = userMessage([image('c')]);
    const painted = assistantMessage('', { parts: [image('d'), image('e')] });
    expect(fitMessages([shown, painted, asked], { maxImages: 3 })).toEqual([shown, painted, asked]);
    expect(fitMessages([shown, asked], { maxImages: 2 })).toEqual([
      { ...shown, parts: [{ type: 'text', text: 'see' }, image('b')] },
      asked,
    ]);
  });

  it('never gives more than fits, whatever it is given (seed 7)', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 500; round += 1) {
      const messages = Array.from({ length: random(8) }, () => {
        const size = random(80);
        return [system, user, assistant][random(3)]?.(size) as ChatMessage;
      });
      const fitted = fitMessages(messages, { contextLength: 100 });
      const tokens = fitted.reduce((sum, message) => sum + estimateTokens(contentText(message.content)), 0);
      expect(tokens, `round ${round}`).toBeLessThanOrEqual(97);
      const newest = (some: readonly ChatMessage[]) =>
        contentText(some.findLast(({ role }) => role !== 'system')?.content ?? '');
      expect(newest(messages).startsWith(newest(fitted)), `round ${round}`).toBe(true);
    }
  });

  it.each([
    [{ contextLength: 0 }, '"contextLength" must be a whole number of at least 1; received 0'],
    [{ maxImages: -1 }, '"maxImages" must be a whole number of at least 0; received -1'],
  ])('refuses %j', (options, message) => {
    expect(() => fitMessages([], options)).toThrow(message);
  });
});

describe('cutToTokens', () => {
  it.each([
    ['', 5, ''],
    ['abc', 1, 'abc'],
    ['abcdefgh', 2, 'abcdef'],
    ['日本語', 2, '日本'],
    ['a🙂🙂b', 2, 'a🙂'],
    ['🙂', 0, ''],
    ['a🙂', 1, 'a'],
    ['\udf00a', 0, ''],
  ])('cuts %j to %i tokens: %j', (text, tokens, expected) => {
    expect(cutToTokens(text, tokens)).toBe(expected);
  });

  it('agrees with estimateTokens', () => {
    const text = 'Some words, 日本語 and 🙂 smileys; '.repeat(20);
    for (let tokens = 0; tokens <= estimateTokens(text); tokens += 1) {
      expect(estimateTokens(cutToTokens(text, tokens))).toBeLessThanOrEqual(tokens);
    }
    expect(cutToTokens(text, estimateTokens(text))).toBe(text);
  });
});
