import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import type { JsonObject } from '../../src/json.js';
import { webCrawler } from '../../src/tools/web-crawler.js';
import {
  errorOf,
  eventsOf,
  itBehavesAsUpstreamTool,
  type Routes,
  resultOf,
  startUpstream,
} from './support/upstream.js';

const html = (text: string) => ({ text, type: 'text/html' });

const DOCS = `<html><head><title>Docs</title></head><body><h1>Guide</h1><p>Hello <a href="/next">next</a></p>
  <script>x()</script></body></html>`;
const routes: Routes = { 'GET /docs': html(DOCS) };
const at =
  (path: string) =>
  (origin: string): JsonObject => ({ query: `${origin}${path}` });
const calling = { args: at('/docs') };

itBehavesAsUpstreamTool({ tool: webCrawler, calling, routes, attempts: 2, refusesGarbage: false });

describe('web_crawler', () => {
  it.each([
    ['markdown', '# Guide\n\nHello [next](ORIGIN/next)'],
    ['html', '<h1>Guide</h1><p>Hello <a href="ORIGIN/next">next</a></p>'],
    ['content', 'Guide\nHello next'],
  ])('gives a page as %s', async (extract_type, content) => {
    const upstream = await startUpstream(routes);
    const { origin } = upstream;
    const found = await resultOf(webCrawler, origin, { ...calling, params: { extract_type } });
    expect(upstream.asked[0]).toMatchObject({ method: 'GET', query: {}, body: '' });
    expect(found.text).toBe(content.replaceAll('ORIGIN', origin));
    expect(found.outputs).toEqual({
      formalized_content: found.text,
      json: {
        url: `${origin}/docs`,
        title: 'Docs',
        content: 'Guide Hello next',
        links: [`${origin}/next`],
        status: 200,
      },
    });
  });

  it('follows a redirect and says where it ended', async () => {
    const upstream = await startUpstream({
      'GET /old': { status: 301, headers: { location: '/new/page' } },
      'GET /new/page': html('<p>Moved <a href="more">on</a></p>'),
    });
    const { origin } = upstream;
    const found = await resultOf(webCrawler, origin, { args: at('/old') });
    expect(found.text).toBe(`Moved [on](${origin}/new/more)`);
    expect(found.outputs.json).toMatchObject({ url: `${origin}/new/page`, links: [`${origin}/new/more`] });
  });

  it.each([
    ['text/plain', 'a  <b>\n c'],
    ['application/json', '{"a":1}'],
    ['application/rss+xml', '<rss/>'],
  ])('gives a text of type %s as it is', async (type, text) => {
    const upstream = await startUpstream({ 'GET /text': { text, type } });
    const found = await resultOf(webCrawler, upstream.origin, { args: at('/text') });
    expect(found.text).toBe(text);
    expect(found.outputs.json).toMatchObject({ title: '', content: text, links: [] });
  });

  it('cuts a text that is too long, and says so', async () => {
    const upstream = await startUpstream({ 'GET /text': { text: 'x'.repeat(500_000) } });
    const [said, found] = await eventsOf(webCrawler, upstream.origin, { args: at('/text') });
    expect(said).toEqual({ type: 'progress', message: 'The page was too large and was cut.' });
    expect(found).toMatchObject({ type: 'result', text: 'x'.repeat(400_000) });
  });

  it.each([
    ['a picture', { text: 'GIF89a', type: 'image/gif' }, 'what is there is no text but "image/gif; charset=utf-8"'],
    ['nothing', { status: 404 }, 'the service answered with status 404'],
    ['a page over 5 MiB', html('x'.repeat(5 * 1024 * 1024 + 1)), 'larger than the 5242880 bytes'],
    [
      'a page without a bottom',
      html('<div>'.repeat(2_000)),
      'the page cannot be read: its elements are nested too deeply',
    ],
  ])('fails for %s', async (_, reply, message) => {
    const upstream = await startUpstream({ 'GET /x': reply });
    expect((await errorOf(webCrawler, upstream.origin, { args: at('/x') })).message).toContain(message);
  });

  it.each(['docs', 'ftp://a.example/', 'file:///etc/passwd', 'http://', 'javascript:alert(1)'])(
    'takes no %s for a URL',
    async (query) => {
      expect((await errorOf(webCrawler, '', { args: { query } })).message).toBe('Crawler error: URL not valid');
    },
  );

  it('reaches no private network unless the operator opens it', async () => {
    const upstream = await startUpstream(routes);
    const closed = { ...calling, services: { http: createEgressClient() } };
    expect(await errorOf(webCrawler, upstream.origin, closed)).toMatchObject({ code: 'URL_BLOCKED' });
    expect(upstream.asked).toEqual([]);
  });

  it('asks through the proxy of the document', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(webCrawler, '', {
      args: { query: 'http://docs.example/docs' },
      params: { proxy: upstream.origin },
    });
    expect(found.text).toContain('[next](http://docs.example/next)');
  });

  it('fetches nothing without an address', async () => {
    const found = await resultOf(webCrawler, '', { args: { query: ' ' } });
    expect(found).toMatchObject({ text: '', outputs: { formalized_content: '', json: {} } });
  });

  it('says what went wrong in the words that canvases know', async () => {
    const { origin } = await startUpstream({ 'GET /docs': { status: 404, text: 'gone' } });
    const { message } = await errorOf(webCrawler, origin, calling);
    expect(message).toBe('Crawler error: An unexpected error occurred: the service answered with status 404: gone');
  });
});
