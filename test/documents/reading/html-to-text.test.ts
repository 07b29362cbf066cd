import { describe, expect, it } from 'vitest';
import { htmlToText } from '../../../src/documents/reading/html-to-text.js';

describe('htmlToText', () => {
  it.each([
    ['paragraphs and line ends', '<p>a\n  b<br>c</p><p>d</p>e', 'a b\nc\n\nd\n\ne'],
    ['headings', '<h1>One <b>two</b></h1><h3></h3><h6>Six</h6>', '# One two\n\n###### Six'],
    [
      'nested lists',
      '<ul><li>a<ol start="3"><li>b<li>c</ol><li><p>d</p><p>e</p></ul>',
      '- a\n  3. b\n  4. c\n- d\n  e',
    ],
    ['a list in a list', '<ul><li>a</li><ul><li>b</li></ul></ul>', '- a\n  - b'],
    [
      'tables',
      '<table><caption>C</caption><tr><th>a<th>b<tr><td>1|2<td>x<br>y</table>',
      'C\n\n| a | b |\n| --- | --- |\n| 1\\|2 | x<br>y |',
    ],
    [
      'cells over columns',
      '<table><tr><td colspan="2">a<td>b<tr><td>1<td>2<td>3</table>',
      '| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |',
    ],
    ['tables that are layout', '<table><tr><td>a<tr><td>b</table>', 'a\n\nb'],
    ['code', '<pre><code>  a\n\tb  \n</code></pre>', '```\n  a\n\tb\n```'],
    ['code with fences in it', '<pre>```\nx</pre>', '````\n```\nx\n````'],
    ['quotes and rules', '<blockquote><p>a</p>b</blockquote><hr>', '> a\n\n> b\n\n---'],
    ['text between blocks', 'a<div>b<div>c</div>d</div>e', 'a\n\nb\n\nc\n\nd\n\ne'],
    ['links and pictures by their text', '<a href="x">l</a> <img alt="pic"><img>', 'l pic'],
    ['characters', '&lt;b&gt;&nbsp;&eacute;&#x4e2d;', '<b> é中'],
    [
      'nothing that is hidden',
      '<head><title>t</title></head><script>s</script><style>y</style><p hidden>h<!--c--><noscript>n</noscript>',
      '',
    ],
    ['tags that nobody closed', '<p><b>a<p>b<i>c', 'a\n\nbc'],
  ])('gives %s', async (_name, html, text) => {
    expect(await htmlToText(html, 'a.html')).toBe(text);
  });

  it('is not deceived by ends without a beginning', async () => {
    await expect(htmlToText('<div></x>'.repeat(1000), 'a.html')).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('refuses nesting that would take the parser too long', async () => {
    await expect(htmlToText('<div>'.repeat(200_000), 'a.html')).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: 'File "a.html" cannot be read: its elements are nested deeper than 512.',
    });
    expect(await htmlToText(`${'<div>'.repeat(500)}x`, 'a.html')).toBe('x');
  });

  it('marks no more than sixteen lists and quotes inside each other', async () => {
    expect(await htmlToText(`${'<blockquote>'.repeat(500)}x`, 'a.html')).toBe(`${'> '.repeat(16)}x`);
    expect(await htmlToText(`${'<ul><li>'.repeat(250)}x`, 'a.html')).toBe(`${'- '.repeat(16)}x`);
  });
});
