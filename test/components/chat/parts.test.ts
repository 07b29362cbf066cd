import { describe, expect, it } from 'vitest';
import {
  buildMessages,
  collectImages,
  cutPromptTags,
  readHistory,
  withoutImages,
} from '../../../src/components/chat/messages.js';
import type { Json } from '../../../src/json.js';
import { activationOf } from '../text-activation.js';

const PNG = 'data:image/png;base64,AAAA';
const GIF = 'data:image/gif;base64,BBBB';

describe('readHistory', () => {
  const read = (history: Json, window = 13) => readHistory(activationOf({ variables: { history } }).source, window);

  it.each<[string, Json, unknown]>([
    ['texts', [['user', 'a']], [{ role: 'user', content: 'a' }]],
    ['objects by their content', [['assistant', { content: 'a', x: 1 }]], [{ role: 'assistant', content: 'a' }]],
    ['objects without content as nothing', [['assistant', { x: 1 }]], [{ role: 'assistant', content: '' }]],
    ['everything else as JSON', [['user', [1, 'x']]], [{ role: 'user', content: '[1, "x"]' }]],
    ['unknown roles as the user', [['boss', 'a']], [{ role: 'user', content: 'a' }]],
    ['answers without what was thought', [['assistant', '<think>x</think> a']], [{ role: 'assistant', content: 'a' }]],
    ['no broken entries', ['x', null, ['user', 'a']], [{ role: 'user', content: 'a' }]],
    ['nothing that is no list', 'x', []],
  ])('reads %s', (_, history, turns) => {
    expect(read(history)).toEqual(turns);
  });

  it.each([
    [0, []],
    [-1, []],
    [1, ['c', 'd']],
    [2, ['a', 'b', 'c', 'd']],
    [9, ['a', 'b', 'c', 'd']],
  ])('keeps twice the window of %i', (window, contents) => {
    const history = ['a', 'b', 'c', 'd'].map((text) => ['user', text]);
    expect(read(history, window).map(({ content }) => content)).toEqual(contents);
  });

  it('is empty without the variable', () => {
    expect(readHistory(activationOf({}).source, 3)).toEqual([]);
  });
});

describe('images', () => {
  const collect = (value: Json) => {
    const found = new Set<string>();
    collectImages(value, found);
    return [...found];
  };

  it.each<[string, Json, string[], Json]>([
    ['a text', PNG, [PNG], null],
    ['no other text', 'data:text/plain,x', [], 'data:text/plain,x'],
    ['a list, each once', [GIF, PNG, 'x', GIF], [GIF, PNG], ['x']],
    ['nested lists, which stay lists', [['x', PNG], [PNG], [], null], [PNG], [['x'], [], null]],
    ['any field', { a: PNG, b: { c: GIF }, d: 1 }, [PNG, GIF], { d: 1 }],
    ['the content alone, when there is one', { content: [PNG], other: 'x' }, [PNG], { other: 'x' }],
    [
      'parts of a message',
      [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: PNG } },
      ],
      [PNG],
      [{ type: 'text', text: 'x' }],
    ],
    ['an object with a type only', { type: 'x' }, [], { type: 'x' }],
  ])('are found in and taken out of %s', (_, value, images, rest) => {
    expect(collect(value)).toEqual(images);
    expect(withoutImages(value)).toEqual(rest);
  });

  it('are bounded', () => {
    expect(collect(Array.from({ length: 100 }, (_, at) => `${PNG}${at}`))).toHaveLength(64);
    let deep: Json = PNG;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(collect(deep)).toEqual([]);
    expect(() => withoutImages(deep)).not.toThrow();
  });
});

describe('buildMessages', () => {
  const user = (content: string) => ({ role: 'user' as const, content });
  const assistant = (content: string) => ({ role: 'assistant' as const, content });

  it('makes a user message for files when there is none', () => {
    const parts = { system: '', history: [], prompts: [assistant('a')], appendix: 'file' };
    expect(buildMessages(parts)).toEqual([assistant('a'), user('file')]);
  });

  it('shows images alone when there is no text', () => {
    const parts = { system: ' ', history: [], prompts: [user(' ')], images: [PNG] };
    expect(buildMessages(parts)).toEqual([{ role: 'user', content: [{ type: 'image_url', url: PNG }] }]);
  });

  it('puts images and files to the last user message', () => {
    const parts = {
      system: 's',
      history: [user('a')],
      prompts: [assistant('b'), user('c')],
      appendix: 'f',
      images: [PNG],
    };
    expect(buildMessages(parts)).toEqual([
      { role: 'system', content: 's' },
      user('a'),
      assistant('b'),
      {
        role: 'user',
        content: [
          { type: 'text', text: 'c\n\nf' },
          { type: 'image_url', url: PNG },
        ],
      },
    ]);
  });
});

describe('cutPromptTags', () => {
  it.each<[string, string, string, object]>([
    ['nothing', 'plain <b>text</b>', 'plain <b>text</b>', {}],
    ['a part in any case', 'a<Reflection> r\n</REFLECTION>b', 'ab', { reflection: 'r' }],
    [
      'several parts',
      '<REFLECTION>r</REFLECTION>-<TASK_ANALYSIS>t</TASK_ANALYSIS>',
      '-',
      { reflection: 'r', task_analysis: 't' },
    ],
    ['the first of two', '<REFLECTION>1</REFLECTION><REFLECTION>2</REFLECTION>', '', { reflection: '1' }],
    ['no part that is not closed', 'a<REFLECTION>b', 'a<REFLECTION>b', {}],
    ['no part that is not opened', 'a</REFLECTION>b', 'a</REFLECTION>b', {}],
    [
      'the outer one of two',
      '<REFLECTION>x<TASK_ANALYSIS>y</TASK_ANALYSIS></REFLECTION>',
      '',
      { reflection: 'x<TASK_ANALYSIS>y</TASK_ANALYSIS>' },
    ],
  ])('cuts out %s', (_, prompt, text, parts) => {
    expect(cutPromptTags(prompt)).toEqual({ text, parts });
  });
});
