import { describe, expect, it } from 'vitest';
import { readMcpSettings, serverHeaders } from '../../../src/adapters/mcp/mcp-settings.js';
import type { JsonObject } from '../../../src/json.js';

const variable = (name: string): string => `\${${name}}`;
const UNKNOWN = `${variable('nope')} ${variable('constructor')}`;

const file = (servers: unknown): string => JSON.stringify({ mcpServers: servers });

describe('the file of servers', () => {
  it('gives every server by its id, with a timeout of 10 seconds', () => {
    const read = readMcpSettings(
      file({ a: { type: 'streamable-http', url: 'http://10.0.0.1/mcp' }, b: { type: 'stdio', command: 'x' } }),
      'f',
    );
    expect(read.get('a')).toEqual({
      type: 'streamable-http',
      url: 'http://10.0.0.1/mcp',
      timeout: 10,
      headers: {},
      variables: {},
    });
    expect(read.get('b')).toEqual({ type: 'stdio', command: 'x', args: [], env: {}, timeout: 10 });
  });

  it.each([
    ['no JSON', '{', 'f is no JSON'],
    ['no servers', '{}', 'mcpServers'],
    ['another kind', file({ a: { type: 'smtp' } }), 'mcpServers.a.type'],
    ['no URL', file({ a: { type: 'sse' } }), 'mcpServers.a.url'],
    ['a file', file({ a: { type: 'sse', url: 'file:///etc/passwd' } }), 'mcpServers.a.url'],
    ['a password in it', file({ a: { type: 'sse', url: 'http://me:pass@h/' } }), 'mcpServers.a.url'],
    ['no command', file({ a: { type: 'stdio', args: ['x'] } }), 'mcpServers.a.command'],
    ['a timeout of nothing', file({ a: { type: 'stdio', command: 'x', timeout: 0 } }), 'mcpServers.a.timeout'],
    ['a header that is none', file({ a: { type: 'sse', url: 'http://h/', headers: { 'a b': 'x' } } }), 'no header'],
    ['what nobody knows', file({ a: { type: 'sse', url: 'http://h/', comand: 'x' } }), 'comand'],
  ])('is refused with %s, without its values', (_, text, message) => {
    expect(() => readMcpSettings(text, 'f')).toThrow(message);
    expect(() => readMcpSettings(text, 'f')).not.toThrow(/pass@|passwd/);
  });
});

describe('headers of requests to a server', () => {
  const headersOf = (declared: JsonObject, ofRun: JsonObject = {}) => {
    const server = readMcpSettings(file({ a: { type: 'sse', url: 'http://h/', ...declared } }), 'f').get('a');
    return serverHeaders(server as never, ofRun);
  };

  it.each([
    [
      'variables',
      { headers: { 'X-Key': `k ${variable('key')} ${variable(' key ')}` }, variables: { key: 'v' } },
      {},
      { 'x-key': 'k v v' },
    ],
    ['unknown variables', { headers: { a: UNKNOWN } }, {}, { a: UNKNOWN }],
    ['what is blank', { headers: { a: ' ', b: variable('x'), ' ': 'c' }, variables: { x: '' } }, {}, {}],
    ['a bare scheme', { headers: { Authorization: `Bearer ${variable('t')}` }, variables: { t: '' } }, {}, {}],
    ['a token', { authorization_token: 't' }, {}, { authorization: 'Bearer t' }],
    ['a whole token', { authorization_token: 'Bearer t' }, {}, { authorization: 'Bearer t' }],
    ['headers of the run', { headers: { a: '1' } }, { A: '2', b: 3, c: null, d: ['x'] }, { a: '2', b: '3' }],
    ['the end of a header', {}, { a: 'x\r\nhost: evil', 'b\r\nc': 'x', c: 'ü' }, {}],
    ['names of the protocol', {}, { Accept: 'x', 'Mcp-Session-Id': 'x', 'content-type': 'x' }, {}],
  ])('take care of %s', (_, declared, ofRun, expected) => {
    expect(headersOf(declared as JsonObject, ofRun as JsonObject)).toEqual(expected);
  });
});
