import { describe, expect, it } from 'vitest';
import { parsePage } from '../../../src/documents/pages/parse-page.js';

const URL = 'https://x.example/a/b';
const parse = (html: string, form: 'html' | 'markdown' | 'content' = 'markdown') => parsePage({ html, url: URL, form });

describe('parsePage', () => {
  it.each([
    ['a part of a page', '<p>Just <b>a</b> part</p><p>two', 'Just **a** part\n\ntwo'],
    ['text', 'plain &amp; simple', 'plain & simple'],
    ['nothing', '', ''],
    ['a page without a body', '<html><h1>A</h1><p>B</html>', '# A\n\nB'],
    ['a head without a page', '<!doctype html><title>T</title><p>x', 'x'],
    ['a body without a page', '<body><p>x</p></body>', 'x'],
    ['a comment before the page', '<!-- c --><html><body>x</body></html>', 'x'],
    ['XHTML', '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>x</p></body></html>', 'x'],
    ['frames', '<html><frameset><frame src="/a"></frameset></html>', ''],
  ])('reads %s', (_, html, markdown) => {
    expect(parse(html).content).toBe(markdown);
  });

  it.each([
    ['its head', '<html><head><title> The\n title </title></head><body><h1>A</h1></body></html>', 'The title'],
    ['a heading', '<html><body><svg><title>icon</title></svg><h1>A <i>b</i></h1></body></html>', 'A b'],
    ['nowhere', '<p>x', ''],
  ])('takes the title from %s', (_, html, title) => {
    expect(parse(html).title).toBe(title);
  });

  it('shows nothing that nobody reads', () => {
    const hidden = ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'canvas'];
    const html = `<p>seen</p>${hidden.map((name) => `<${name}>secret</${name}>`).join('')}<!-- secret -->`;
    for (const form of ['html', 'markdown', 'content'] as const) {
      const page = parse(html, form);
      expect(page.text).toBe('seen');
      expect(page.content).not.toContain('secret');
    }
  });

  it('keeps of HTML what can do no harm', () => {
    const html = `<div class="a" onclick="x()" style="color:red"><a href="/n" title="<!-- " target="_top">n</a>
      <a href="javascript:alert(1)">j</a><img src="data:image/png;base64,AA" alt="pic" onerror="x()"><!-- --></div>`;
    expect(parse(html, 'html').content.replace(/\s+/g, ' ')).toBe(
      '<div><a href="https://x.example/n" title="<!-- ">n</a> <a>j</a><img alt="pic"></div>',
    );
  });

  it('gives each link once, in order, where it leads', () => {
    const html = `<base href="/base/"><a href="one#x">1</a><a href="//y.example">2</a><a href="one#x">1</a>
      <a href="mailto:a@b.example">m</a><a href="http://[bad">b</a><a>none</a><a href="?q=ü">q</a>`;
    expect(parse(html).links).toEqual([
      'https://x.example/base/one#x',
      'https://y.example/',
      'https://x.example/base/?q=%C3%BC',
    ]);
  });

  it('gives a thousand links at most', () => {
    const many = Array.from({ length: 1_500 }, (_, index) => `<a href="/${index}">x</a>`).join('');
    expect(parse(many).links).toHaveLength(1_000);
  });

  it('keeps blocks apart and lines together', () => {
    const html = '<div>one<div>two</div>three <b>four</b><br>five</div><ul><li>six<li>seven</ul>';
    expect(parse(html).text).toBe('one two three four five six seven');
  });

  it('writes tables of data as tables, and others as what is in them', () => {
    const data = '<table><tr><th>A<th>B|c<tr><td>1<p>x</p></td><td></table>';
    expect(parse(data).content).toBe('| A | B\\|c |\n| --- | --- |\n| 1 x |  |');
    const layout = `<table><tr><td><p>left</p>${data}</td><td>right</td></tr></table>`;
    expect(parse(layout).content).toBe('left\n\n| A | B\\|c |\n| --- | --- |\n| 1 x |  |\n\nright');
    expect(parse('<table><tr><td>a</td></tr><tr><td>b</td></tr></table>').content).toBe('a\n\nb');
    const captioned =
      '<table><caption>Sizes</caption><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>';
    expect(parse(captioned).content).toBe('Sizes\n\n| A | B |\n| --- | --- |\n| 1 | 2 |');
  });

  it.each([
    ['links', '<p>See <a href="/n(1)"> the <b>n</b></a>,', 'See [the **n**](https://x.example/n\\(1\\)),'],
    ['links around blocks', '<a href="/n"><div>a</div>b</a>', 'a\n\nb'],
    ['pictures', '<img src="/i.png" alt="pic">', '![pic](https://x.example/i.png)'],
    ['emphasis', '<em>a</em> <i><b>c</b></i><strong> </strong>', '_a_ _**c**_'],
    ['code', 'x<code>a `b`</code>', 'x`` a `b` ``'],
    ['elements that are called like members of objects', '<constructor>a</constructor>', 'a'],
  ])('writes %s as Markdown', (_, html, markdown) => {
    expect(parse(html).content).toBe(markdown);
  });

  it('finds the article among what stands around it', () => {
    const paragraph = `<p>${'The sea is calm tonight, the tide is full, and the moon lies fair. '.repeat(6)}</p>`;
    const html = `<html><body><nav><ul><li><a href="/a">Home</a><li><a href="/b">Shop</a></ul></nav>
      <article><h1>Dover</h1>${paragraph.repeat(4)}</article>
      <footer><a href="/c">Imprint</a></footer></body></html>`;
    const { content, text } = parse(html, 'content');
    expect(content).toMatch(/^(?:Dover\n)?The sea is calm/);
    expect(content).not.toMatch(/Home|Shop|Imprint/);
    expect(text).toMatch(/^Home Shop Dover The sea/);
  });

  it.each([
    ['within', '<div>'.repeat(500), false],
    ['beyond', '<div>'.repeat(600), true],
    ['far beyond', '<ul><li>'.repeat(5_000), true],
  ])('reads pages nested %s what browsers take', (_, opened, isRefused) => {
    if (isRefused) expect(() => parse(`${opened}x`)).toThrow(RangeError);
    else expect(parse(`${opened}x`).content).toBe('x');
  });

  it('reads the beginning of a page that never ends', () => {
    const page = parse('<p>x</p>'.repeat(60_000), 'html');
    expect(page.isCut).toBe(true);
    expect(page.text).toHaveLength(2 * 30_000 - 1);
  });

  it('halves no character where it cuts', () => {
    const { text, isCut } = parse(`x${'😀'.repeat(300_000)}`);
    expect(isCut).toBe(true);
    expect(text).toHaveLength(399_999);
  });
});
