import { describe, expect, it } from 'vitest';
import { wordMarker } from '../../../src/transport/datasets/mark-words.js';
import { markedParts } from '../../../web/datasets/marked-text.js';

const marked = (text: string, highlight: string): readonly string[] =>
  markedParts(text, highlight).map((part) => (part.isMarked ? `[${part.text}]` : part.text));

describe('marked words', () => {
  it.each([
    ['none', 'a b', 'a b', ['a b']],
    ['some', 'a lamp turns', 'a <em>lamp</em> turns', ['a ', '[lamp]', ' turns']],
    ['side by side', 'ab', '<em>a</em><em>b</em>', ['[a]', '[b]']],
    ['between signs of the text', '<em>a</em>', '<em><em>a</em></em>', ['<em>', '[a]', '</em>']],
    ['of nothing', '', '', []],
    ['of another text', 'a', 'b', ['a']],
  ])('%s', (_, text, highlight, parts) => expect(marked(text, highlight)).toEqual(parts));

  it.each(['<em>', 'an <em>emphasis</em> of em', '<<em>em</em>>', '</em> em', 'em</em>', '<em'])(
    'leave the signs of the text %s in place',
    (text) => {
      const parts = markedParts(text, wordMarker('em emphasis')(text));
      expect(parts.map((part) => part.text).join('')).toBe(text);
    },
  );
});
