import { describe, expect, it } from 'vitest';
import { createXmlReader } from '../../../src/documents/spreadsheets/xml-reader.js';

/** What the reader tells about XML that comes in pieces of `size`. */
function told(xml: string, size: number): string {
  const out: string[] = [];
  const reader = createXmlReader({
    open: (name, attributes) =>
      out.push(`<${name}${['a', 'id'].map((key) => ` ${attributes.get(key) ?? '-'}`).join('')}>`),
    close: (name) => out.push(`</${name}>`),
    text: (text) => out.push(text),
  });
  for (let at = 0; at < xml.length; at += size) reader.write(xml.slice(at, at + size));
  reader.end();
  return out.join('');
}

describe('createXmlReader', () => {
  it.each([
    ['elements and text', '<r><c>x</c> y</r>', '<r - -><c - ->x</c> y</r>'],
    ['attributes', `<c a="1" id = '2'/><c ba="x" a=''>`, '<c 1 2></c><c  ->'],
    ['prefixes', '<x:c r:id="7" xmlns:x="u"></x:c>', '<c - 7></c>'],
    ['quotes and angles in attributes', `<c a='x="1" id="2"' id="a>b"/>`, '<c x="1" id="2" a>b></c>'],
    [
      'entities',
      '<c a="&lt;&quot;&#65;">&amp;&apos;&#x4E2D;&unknown;&#x110000;</c>',
      '<c <"A ->&\'中&unknown;&#x110000;</c>',
    ],
    [
      'declarations, comments, character data',
      '<?xml version="1.0"?><!-- <c> --><c><![CDATA[<&]]></c>',
      '<c - -><&</c>',
    ],
    ['line ends in tags', '<c\n  a="1"\n/>', '<c 1 -></c>'],
    ['nothing', ' ', ''],
  ])('reads %s, in pieces of any size', (_name, xml, expected) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(told(xml, size)).toBe(expected);
  });

  it.each([
    ['a document type', '<!DOCTYPE x [<!ENTITY a "b">]><r/>', /document type/],
    ['an end within a tag', '<r><c', /ends too early/],
    ['a tag without an end', `<c ${'x'.repeat(1_048_600)}`, /too long/],
  ])('refuses %s', (_name, xml, message) => {
    expect(() => told(xml, 65_536)).toThrow(message);
  });
});
