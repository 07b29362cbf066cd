/** Which canvases stay open between two runs. */
import { expect, it } from 'vitest';
import { builtInComponents } from '../../src/canvas/load-canvas.js';
import { createCanvasOpener } from '../../src/hosting/canvases.js';
import { documentOf } from '../transport/support/documents.js';

const opener = () => createCanvasOpener({ registry: builtInComponents });
const saying = (text: string) =>
  documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Message', [], { content: [text] }] });

it('opens a document once, however often it is read from a store', () => {
  const open = opener();
  const canvas = open(saying('a'));
  expect(open(saying('a'))).toBe(canvas);
  expect(open(saying('b'))).not.toBe(canvas);
});

it('closes those that were not asked for longest when there are more than 256', () => {
  const open = opener();
  const [first, second] = [open(saying('0')), open(saying('1'))];
  for (let count = 2; count < 256; count += 1) open(saying(String(count)));
  expect(open(saying('0'))).toBe(first);
  open(saying('one more'));
  expect(open(saying('0'))).toBe(first);
  expect(open(saying('1'))).not.toBe(second);
});

it('closes them also when their documents are large', () => {
  const open = opener();
  const large = (letter: string) => saying(letter.repeat(12 * 1024 * 1024));
  const first = open(large('a'));
  expect(open(large('a'))).toBe(first);
  open(large('b'));
  open(large('c'));
  expect(open(large('a'))).not.toBe(first);
});
