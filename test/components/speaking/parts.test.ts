import { describe, expect, it } from 'vitest';
import { parseAnswer } from '../../../src/components/speaking/answer-pieces.js';
import { Downloads } from '../../../src/components/speaking/files.js';
import { removeThinking, splitThinkTags, TaggedText } from '../../../src/components/speaking/think-text.js';
import type { Json } from '../../../src/json.js';

describe('Downloads', () => {
  const file = (id: string, more = {}) => ({ doc_id: id, filename: `${id}.txt`, mime_type: 'text/plain', ...more });
  const shown = { include_download_info_in_content: true };

  it.each<[string, Json, string, Json]>([
    ['one file', file('a'), '', [file('a')]],
    ['a list of files', [file('a'), file('b')], '', [file('a'), file('b')]],
    ['the JSON of one', JSON.stringify(file('a')), '', [file('a')]],
    ['the JSON of a list', JSON.stringify([file('a')]), '', [file('a')]],
    ['a file twice', [file('a'), file('a', { size: 1 })], '', [file('a')]],
    [
      'a file that asks to be shown',
      [file('a', shown)],
      JSON.stringify([file('a')])
        .replaceAll(',', ', ')
        .replaceAll(':', ': '),
      [file('a')],
    ],
    [
      'files inside of something else',
      { k: [{ f: file('a') }], n: 1 },
      expect.stringContaining('"n": 1') as never,
      [file('a')],
    ],
    ['no files', { doc_id: 'a' }, '{"doc_id": "a"}', []],
    ['an empty list', [], '[]', []],
    ['a text about them', 'see "doc_id"', 'see "doc_id"', []],
    ['null', null, '', []],
  ])('takes %s', (_, value, text, files) => {
    const downloads = new Downloads();
    expect(downloads.take(value)).toEqual(text);
    expect(downloads.list).toEqual(files);
  });
});

describe('parseAnswer', () => {
  const kinds = (text: string, ...live: string[]) => {
    const template = parseAnswer(text, new Set(live));
    return template.kind !== 'stretches'
      ? template.kind
      : template.stretches.map((stretch) => (stretch.kind === 'live' ? stretch.name : stretch.parts.length));
  };

  it.each<[string, string, string[], unknown]>([
    ['nothing', '', [], []],
    ['text and settled references together', 'a{b@c}d{sys.query}', [], [4]],
    [
      'around live references',
      'a{l@content}b{m@content}',
      ['l@content', 'm@content'],
      [1, 'l@content', 1, 'm@content'],
    ],
    ['at the first of equal ones only', '{l@content}{l@content}x', ['l@content'], ['l@content', 2]],
    ['not at all when it is a template', '{{ 1 }}{l@content}', ['l@content'], 'jinja'],
  ])('divides %s', (_, text, live, stretches) => {
    expect(kinds(text, ...live)).toEqual(stretches);
  });
});

describe('think tags', () => {
  it.each<[string, string, [string, string][], string]>([
    ['no marks', 'a < b', [['content', 'a < b']], 'a < b'],
    [
      'one block',
      '<think>a</think>b',
      [
        ['thinking', 'a'],
        ['content', 'b'],
      ],
      'b',
    ],
    [
      'several blocks',
      'x<think>a</think>y<think>b</think>',
      [
        ['content', 'x'],
        ['thinking', 'a'],
        ['content', 'y'],
        ['thinking', 'b'],
      ],
      'xy',
    ],
    [
      'an open block',
      'x<think>a',
      [
        ['content', 'x'],
        ['thinking', 'a'],
      ],
      'x',
    ],
    ['an empty block', '<think></think>x', [['content', 'x']], 'x'],
    ['a closing mark alone', 'x</think>y', [['content', 'x</think>y']], 'xy'],
    ['nothing', '', [], ''],
  ])('are read: %s', (_, text, pieces, rest) => {
    expect(splitThinkTags(text).map(({ port, text }) => [port, text])).toEqual(pieces);
    expect(removeThinking(text)).toBe(rest);
  });

  it('are written around what is thought', () => {
    const text = new TaggedText();
    for (const [piece, isThinking] of [
      ['a', true],
      ['b', true],
      ['c', false],
      ['d', true],
    ] as const)
      text.append(piece, isThinking);
    expect(text.toString()).toBe('<think>ab</think>c<think>d</think>');
  });
});
