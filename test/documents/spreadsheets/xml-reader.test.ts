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
    ['attributes', `<r a="1" id = '2'><c ba="x" a=''/></r>`, '<r 1 2><c  -></c></r>'],
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
    ['control characters', '<c a="\u0001">\u0002</c>', '<c \u0001 ->\u0002</c>'],
  ])('reads %s, in pieces of any size', (_name, xml, expected) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(told(xml, size)).toBe(expected);
  });

  it.each([
    ['a document type', '<!DOCTYPE x [<!ENTITY a "b">]><r/>', /document type/],
    ['a document type with an external entity', '<!DOCTYPE x SYSTEM "file:///etc/passwd"><r/>', /document type/],
    ['a document type that does not end', `<!DOCTYPE x [${'<!ENTITY a "b">'.repeat(100_000)}`, /too long/],
    ['nothing', ' ', /ends too early/],
    ['an end within a tag', '<r><c', /ends too early/],
    ['an end within an element', '<r><c/>', /ends too early/],
    ['an end within a comment', '<r><!-- c', /ends too early/],
    ['a tag within a tag', '<r><c</r>', /disallowed character in tag name/],
    ['ends that do not match', '<r><c></r></c>', /unexpected close tag/],
    ['elements nested without end', '<c>'.repeat(300), /nested deeper than 256/],
    ['a text without an end', `<c>${'x'.repeat(1_200_000)}`, /too long/],
    ['a comment without an end', `<c><!--${'x'.repeat(1_200_000)}`, /too long/],
    ['a tag without an end', `<c ${'x'.repeat(1_048_600)}`, /too long/],
  ])('refuses %s', (_name, xml, message) => {
    expect(() => told(xml, 65_536)).toThrow(message);
  });
});
