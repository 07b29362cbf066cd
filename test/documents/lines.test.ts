import { describe, expect, it } from 'vitest';
import { type Atom, breakLines, chop, type TextPiece, type TextStyle, wordsOf } from '../../src/documents/pdf/lines.js';

const STYLE: TextStyle = { font: 'regular', size: 10, colour: '#000' };

/** Every character is one wide, Chinese ones two. */
const measure = (text: string) => [...text].reduce((sum, character) => sum + (character > '\u2e80' ? 2 : 1), 0);
const piece = (text: string, style = STYLE): TextPiece => ({ kind: 'text', text, style, width: measure(text) });
const pieces = (text: string, style = STYLE): TextPiece[] => wordsOf(text).map((word) => piece(word, style));
const texts = (atoms: readonly Atom[], width: number) =>
  breakLines(atoms, width, 10, measure).map((line) =>
    line.pieces.map((part) => (part.kind === 'text' ? part.text : '▣')).join(''),
  );

describe('lines', () => {
  it.each([
    ['at spaces', 'one two three', 7, ['one two', 'three']],
    ['without a space at the end', 'one  two', 5, ['one', 'two']],
    ['of a space that hangs over', 'seven xx', 5, ['seven', 'xx']],
    ['not before punctuation', '中文字符，好', 8, ['中文字', '符，好']],
    ['not after what opens', '中文（括号）', 6, ['中文', '（括', '号）']],
    ['between Chinese and Latin', '中文word', 5, ['中文', 'word']],
    ['within a word that is too long', 'abcdefgh ij', 3, ['abc', 'def', 'gh', 'ij']],
    ['behind a word that fits', 'ab abcdef', 4, ['ab', 'abcd', 'ef']],
    ['never within what readers see as one', 'e\u0301'.repeat(3), 2, ['e\u0301', 'e\u0301', 'e\u0301']],
    ['of nothing', '', 5, ['']],
    ['of a space', ' ', 5, ['']],
  ])('break %s', (_, text, width, expected) => expect(texts(pieces(text), width)).toEqual(expected));

  it('do not break where the setting changes within a word', () => {
    const bold = { ...STYLE, font: 'bold' } as const;
    expect(texts([...pieces('ab '), ...pieces('cd', bold), ...pieces('ef')], 5)).toEqual(['ab', 'cdef']);
  });

  it('end where the text says', () => {
    expect(texts([...pieces('a'), { kind: 'break' }, { kind: 'break' }, ...pieces('b')], 9)).toEqual(['a', '', 'b']);
  });

  it('join what is set alike and keep apart what is not', () => {
    const [line] = breakLines([...pieces('one two '), ...pieces('中文', { ...STYLE, size: 20 })], 99, 10, measure);
    expect(line?.pieces.map((part) => part.kind === 'text' && part.text)).toEqual(['one two ', '中文']);
    expect(line).toMatchObject({ width: 12, height: 24 });
  });

  it('are as high as their pictures', () => {
    const picture = { kind: 'picture', picture: 0, width: 5, height: 50 } as const;
    const [line] = breakLines([...pieces('a '), picture], 99, 10, measure);
    expect(line?.baseline).toBe(50);
    expect(texts([...pieces('abcd'), picture, ...pieces('e')], 6)).toEqual(['abcd', '▣e']);
  });

  it('hold a word of any length in parts of 100', () => {
    expect(wordsOf('x'.repeat(250)).map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(chop(piece('x'.repeat(5)), 0, measure).length).toBe(5);
  });
});
