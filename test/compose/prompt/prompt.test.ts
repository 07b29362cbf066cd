import { describe, expect, it } from 'vitest';
import { assistant, placeholder, system, user } from '../../../src/compose/prompt/message-template.js';
import { fString, handlebars, jinja } from '../../../src/compose/prompt/prompt.js';
import type { ChatMessage } from '../../../src/models/messages.js';

const HISTORY: readonly ChatMessage[] = [
  { role: 'user', content: 'Who are you? {question}' },
  { role: 'assistant', content: 'A helper. {{ question }}' },
];

const question = fString(system('You are {role}.'), placeholder('history', { optional: true }), user('{question}'));

describe('a prompt of f-strings', () => {
  it('fills its messages and puts the given ones in their place', () => {
    expect(question({ role: 'a judge', question: 'Is it {so}?', history: HISTORY })).toEqual([
      { role: 'system', content: 'You are a judge.' },
      ...HISTORY,
      { role: 'user', content: 'Is it {so}?' },
    ]);
  });

  it('has no messages for an optional placeholder without any', () => {
    const roles = [
      question({ role: 'x', question: 'y' }),
      question({ role: 'x', question: 'y', history: undefined }),
      question({ role: 'x', question: 'y', history: [] }),
    ].map((messages) => messages.map(({ role }) => role));
    expect(roles).toEqual([
      ['system', 'user'],
      ['system', 'user'],
      ['system', 'user'],
    ]);
  });

  it('never fills a value again, nor a message that is given as it is', () => {
    const prompt = fString({ role: 'system', content: 'JSON: {"a": 1} {x}' }, user('{x} {y}'));
    expect(prompt({ x: '{y}', y: '{x}' }).map(({ content }) => content)).toEqual(['JSON: {"a": 1} {x}', '{y} {x}']);
  });

  it('fills parts with pictures, sounds, videos and files, and leaves other parts alone', () => {
    const prompt = fString(
      user([
        { type: 'text', text: 'What is on page {page}?', extra: { note: '{page}' } },
        { type: 'image', url: 'https://example.com/{picture}.png', detail: 'low' },
        { type: 'image', data: '{data}', mimeType: 'image/{kind}' },
        { type: 'image_url', url: '{picture}' },
        { type: 'audio', data: '{sound}', mimeType: 'audio/wav', transcript: '{said}' },
        { type: 'video', url: '{film}' },
        { type: 'file', fileId: '{file}', name: '{page}.pdf' },
        { type: 'tool-result', toolCallId: '1', content: '{page}' },
      ]),
    );
    const [message] = prompt({
      page: '7',
      picture: 'p',
      data: 'QUJD',
      sound: 'UklG',
      said: 'hi',
      film: 'f',
      file: 'id',
    });
    expect(message?.content).toEqual([
      { type: 'text', text: 'What is on page 7?', extra: { note: '{page}' } },
      { type: 'image', url: 'https://example.com/p.png', detail: 'low' },
      { type: 'image', data: 'QUJD', mimeType: 'image/{kind}' },
      { type: 'image_url', url: 'p' },
      { type: 'audio', data: 'UklG', mimeType: 'audio/wav', transcript: 'hi' },
      { type: 'video', url: 'f' },
      { type: 'file', fileId: 'id', name: '7.pdf' },
      { type: 'tool-result', toolCallId: '1', content: '{page}' },
    ]);
  });

  it('keeps further fields of a message as they are', () => {
    const call = { id: '1', name: 'search', arguments: '{"q": "{x}"}' };
    const prompt = fString(
      user('{x}', { name: 'Ann', id: undefined }),
      assistant('{x}', { toolCalls: [call] }),
      system('{x}', { extra: { cached: true } }),
    );
    expect(prompt({ x: 'y' })).toEqual([
      { role: 'user', content: 'y', name: 'Ann' },
      { role: 'assistant', content: 'y', toolCalls: [call] },
      { role: 'system', content: 'y', extra: { cached: true } },
    ]);
  });

  it('is the same prompt under another name, with its fields and its kind', () => {
    const named = question.named('judge');
    expect([question.stepName, named.stepName, named.stepKind]).toEqual(['prompt', 'judge', 'prompt']);
    expect(named.fields).toEqual([
      { name: 'role', type: 'text', optional: false },
      { name: 'history', type: 'messages', optional: true },
      { name: 'question', type: 'text', optional: false },
    ]);
    expect(named({ role: 'x', question: 'y' })).toHaveLength(2);
    expect(() => question.named('')).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  it('lists each field once, with what all of its places need', () => {
    const prompt = fString(
      user('{n} {n:.2f} {t} {t:>5} {v:>5}'),
      placeholder('list', { optional: true }),
      placeholder('list'),
    );
    expect(prompt.fields).toEqual([
      { name: 'n', type: 'number', optional: false },
      { name: 't', type: 'text', optional: false },
      { name: 'v', type: 'value', optional: false },
      { name: 'list', type: 'messages', optional: false },
    ]);
  });

  it.each([
    ['absent', {}],
    ['undefined', { question: undefined }],
    ['inherited', Object.create({ question: 'inherited' })],
    ['null', null],
    ['a text', 'question'],
  ])('names the field, the message and what is there when it is %s', (_what, fields) => {
    const prompt = fString(system('You judge.'), user('It is: {question:>5}')).named('judge');
    expect(() => prompt(fields as never)).toThrow(
      expect.objectContaining({
        code: 'TEMPLATE_FIELD_MISSING',
        message: expect.stringMatching(
          /^Prompt "judge" needs the field "question" for user message 2 \("\{question:>5\}"\); /,
        ),
        details: { field: 'question' },
      }),
    );
  });

  it('says which fields there are, but not too many', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, '']));
    expect(() => question({ role: 'x', other: 1 } as never)).toThrow('there are: role, other.');
    expect(() => question({ ...many } as never)).toThrow(/there are: f0, .*f19 …\.$/);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('reads no inherited "%s"', (name) => {
    expect(() => fString(user(`{${name}}` as string))({})).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_FIELD_MISSING' }),
    );
  });

  it.each([
    [
      'a text that cannot be read',
      () => fString(system('fine'), user('a\n{')),
      'In user message 2: Template line 2, column 1',
    ],
    ['a part that cannot be read', () => fString(user([{ type: 'image', url: '{0}' }])), 'In user message 1: '],
    ['one name for a field and a placeholder', () => fString(user('{x}'), placeholder('x')), '"x" is a placeholder'],
  ])('refuses %s when it is made', (_what, make, problem) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_INVALID', message: expect.stringContaining(problem) }),
    );
  });

  it.each([
    ['a text', 'hello', 'received the text "hello"'],
    ['one message', HISTORY[0], 'received an object; put the message into a list'],
    ['null', null, 'received null'],
    ['a text in the list', ['hello'], 'item 0 is the text "hello"'],
    [
      'an unknown role',
      [HISTORY[0], { role: 'robot', content: '' }],
      'item 1 is an object with the role the text "robot"',
    ],
    ['no content', [{ role: 'user' }], 'item 0 is a message of the role "user" whose content is undefined'],
    ['parts of an assistant', [{ role: 'assistant', content: [] }], 'whose content is a list of 0'],
    ['parts that are none', [{ role: 'user', content: ['x'] }], 'whose content is a list of 1'],
    [
      'a tool without its call',
      [{ role: 'tool', content: '' }],
      'item 0 is a message of a tool whose toolCallId is undefined',
    ],
  ])('refuses %s for a placeholder, and says what it received', (_what, history, problem) => {
    expect(() => question({ role: 'x', question: 'y', history: history as never })).toThrow(
      expect.objectContaining({ code: 'PLACEHOLDER_INVALID', message: expect.stringContaining(problem) }),
    );
  });

  it('needs a placeholder that is not optional', () => {
    const prompt = fString(placeholder('history'));
    expect(() => prompt({} as never)).toThrow('Prompt "prompt" needs the field "history" for placeholder("history")');
    expect(prompt({ history: HISTORY })).toEqual(HISTORY);
  });

  it('refuses parts that are none, and a message that is none', () => {
    for (const part of ['text', null, 7]) {
      expect(() => fString(part as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    }
    expect(() => fString({ role: 'robot', content: 'x' } as never)).toThrow(
      expect.objectContaining({ code: 'PLACEHOLDER_INVALID' }),
    );
    expect(() => placeholder('')).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('values of fields', () => {
  const show = fString(user('{x}' as string));

  it.each([
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a URL', new URL('https://example.com/a'), 'https://example.com/a'],
    ['a bigint', 12345678901234567890n, '12345678901234567890'],
    ['a list of objects', [{ a: undefined, b: [null] }], '[{"b": [null]}]'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a": 1}'],
    ['null', null, ''],
  ])('can be %s', (_what, x, text) => {
    expect(show({ x })[0]?.content).toBe(text);
  });

  const circle: Record<string, unknown> = {};
  circle.self = circle;

  it.each([
    ['a map', new Map(), 'an object of the class Map'],
    ['an object of a class', new (class Secret {})(), 'an object of the class Secret'],
    ['a function', () => 1, 'a function'],
    ['a symbol in a list', [Symbol('x')], 'a symbol'],
    ['no number', Number.NaN, 'the number NaN'],
    ['a circle', circle, 'a value nested deeper than 200 levels'],
  ])('cannot be %s', (_what, x, named) => {
    expect(() => show({ x })).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_FAILED', message: expect.stringContaining(`"x" holds ${named}`) }),
    );
  });

  it('that no text names may be anything', () => {
    expect(question({ role: 'x', question: 'y', services: new Map() } as never)).toHaveLength(2);
    expect(jinja(user('{{ a }}'))({ a: 1, services: new Map() })[0]?.content).toBe('1');
  });
});

const DOCS = [{ text: 'one {{ x }}' }, { text: 'two & {x}' }];

describe.each([
  ['jinja', jinja, '{% for doc in docs %}[{{ doc.text }}]{% endfor %}', '{% if %}', '{% include "/etc/passwd" %}'],
  ['handlebars', handlebars, '{{#each docs}}[{{text}}]{{/each}}', '{{#if}', '{{> other}}'],
] as const)('a prompt of %s', (_name, language, loop, broken, other) => {
  it('fills messages and parts, and never fills a value again', () => {
    const prompt = language(
      system('You are {{ role }}.'),
      placeholder('history', { optional: true }),
      user([
        { type: 'text', text: loop },
        { type: 'image', url: '{{ picture }}' },
      ]),
      { role: 'user', content: '{{ role }}' },
    ).named('docs');
    expect(
      prompt({ role: 'a <judge>', docs: DOCS, picture: 'https://example.com/?a=1&b=2', history: HISTORY }),
    ).toEqual([
      { role: 'system', content: 'You are a <judge>.' },
      ...HISTORY,
      {
        role: 'user',
        content: [
          { type: 'text', text: '[one {{ x }}][two & {x}]' },
          { type: 'image', url: 'https://example.com/?a=1&b=2' },
        ],
      },
      { role: 'user', content: '{{ role }}' },
    ]);
    expect([prompt.stepName, prompt.stepKind]).toEqual(['docs', 'prompt']);
    expect(prompt.fields).toEqual([{ name: 'history', type: 'messages', optional: true }]);
  });

  it('is refused when it is made if it cannot be read', () => {
    expect(() => language(system('fine'), user(`a\n${broken}`))).toThrow(
      expect.objectContaining({
        code: 'TEMPLATE_INVALID',
        message: expect.stringMatching(/^In user message 2: Template line 2/),
        details: expect.objectContaining({ message: 'user message 2' }),
      }),
    );
  });

  it('leaves a name without a value to the language, and reads no inherited one', () => {
    expect(language(user('[{{ gone }}{{ constructor }}{{ toString }}]'))({})[0]?.content).toBe('[]');
    expect(language(user('[{{ x.constructor }}{{ x.length }}]'))({ x: { length: 2 } })[0]?.content).toBe('[2]');
  });

  it('reaches no file and no other template', () => {
    const run = () => language(user(other))({ other: 'x' });
    expect(run).toThrow(expect.objectContaining({ code: expect.stringMatching(/^TEMPLATE_(?:INVALID|FAILED)$/) }));
  });

  it('needs its placeholders', () => {
    expect(() => language(placeholder('history'))({})).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_FIELD_MISSING' }),
    );
    expect(() => language(placeholder('history'))({ history: 'x' })).toThrow(
      expect.objectContaining({ code: 'PLACEHOLDER_INVALID' }),
    );
  });

  it('can be called many times, and keeps nothing between', () => {
    const prompt = language(user(loop));
    const texts = [1, 2].map((n) => prompt({ docs: Array.from({ length: n }, () => ({ text: `${n}` })) })[0]?.content);
    expect(texts).toEqual(['[1]', '[2][2]']);
  });

  it('takes values that are long, such as a picture', () => {
    const picture = 'A'.repeat(3_000_000);
    const [message] = language(user([{ type: 'image', data: '{{ picture }}', mimeType: 'image/png' }]))({ picture });
    expect(message?.content).toEqual([{ type: 'image', data: picture, mimeType: 'image/png' }]);
  });
});

describe('a prompt of Jinja', () => {
  it('ends a template that never would', () => {
    const prompt = jinja(user('{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}'));
    expect(() => prompt({})).toThrow(expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }));
  });
});
