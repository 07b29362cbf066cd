import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startServer } from '../support/server.js';

const KEY = 'key-of-one-0123456789abcdef';
const JSON_TYPE = 'Content-Type: application/json';

/** What a server answers to bytes as they are. */
async function answerTo(url: string, head: readonly string[], body = ''): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  const lines = [head[0], 'Host: 127.0.0.1', `Authorization: Bearer ${KEY}`, 'Connection: close', ...head.slice(1)];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return text(socket);
}

const POST = 'POST /api/v1/chats HTTP/1.1';

describe('requests that are no good HTTP', () => {
  it.each([
    ['a chunk without a size', [POST, JSON_TYPE, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
    ['more than they announce', [POST, JSON_TYPE, 'Content-Length: 12'], '{"name":"q"}GET / HTTP/1.1\r\n\r\n'],
    ['less than they announce', [POST, JSON_TYPE, 'Content-Length: 100'], '{"name":"q"}'],
    ['a length and chunks', [POST, JSON_TYPE, 'Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'],
    ['two lengths', [POST, JSON_TYPE, 'Content-Length: 2', 'Content-Length: 3'], '{}'],
  ])('with %s are refused, and their keys are in no log', async (_name, head, body) => {
    const { url, errors } = await startServer({ env: { RUNNEL_API_KEYS: `one=${KEY}` } });
    const answer = await answerTo(url, head, body);
    expect(answer).not.toMatch(/^HTTP\/1\.1 5/);
    const logged = JSON.stringify(errors, (_, value) => (value instanceof Error ? { ...value } : value));
    expect(logged).toBe('[]');
  });

  it.each([
    ['GET /api/v1/chats/a%2Fb HTTP/1.1', 200, '"code":109'],
    ['GET /api/v1%2Fchats HTTP/1.1', 404, '"code":404'],
    ['GET /api/v1/chats/%zz HTTP/1.1', 200, '"code":109'],
    ['GET /api/v1/chats/a%0d%0aX-Evil:1 HTTP/1.1', 200, '"code":101'],
    ['GET /api/v1/chats/__proto__ HTTP/1.1', 200, '"code":109'],
    ['GET /api/v1/chats?__proto__=x&constructor=y&id=%zz HTTP/1.1', 200, '"code":0'],
    ['GET /api/v1/chats?orderby=constructor HTTP/1.1', 200, '"code":101'],
    ['OPTIONS /api/v1/chats HTTP/1.1', 405, '"code":405'],
    ['TRACE /api/v1/chats HTTP/1.1', 405, '"code":405'],
  ])('answers %s with %i', async (line, status, said) => {
    const { url, errors } = await startServer({ env: { RUNNEL_API_KEYS: `one=${KEY}` } });
    const answer = await answerTo(url, [line]);
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(answer).toContain(said);
    expect(answer.toLowerCase()).not.toContain('x-evil:');
    expect(errors).toEqual([]);
  });
});
