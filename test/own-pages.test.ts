/** Names and pages that a server without keys answers to. */
import { describe, expect, it } from 'vitest';
import { foreignRequest, isLoopbackName } from '../src/own-pages.js';

describe('a server without keys', () => {
  it.each([
    ['localhost', undefined, undefined, undefined],
    ['127.1.2.3:80', undefined, 'same-origin', undefined],
    ['[::1]:8080', 'https://[::1]:8080', undefined, undefined],
    ['localhost:80', 'https://friend.example', 'cross-site', undefined],
    ['localhost:80', 'http://localhost:81', undefined, 'page'],
    ['localhost', 'null', undefined, 'page'],
    ['localhost', undefined, 'same-site', 'page'],
    [undefined, undefined, undefined, 'name'],
    ['', undefined, undefined, 'name'],
    ['evil.example', 'http://evil.example', undefined, 'name'],
    ['localhost.evil.example', undefined, undefined, 'name'],
    ['localhost:80@evil.example', undefined, undefined, 'name'],
    ['127.0.0.256', undefined, undefined, 'name'],
  ] as const)('host %s, origin %s, site %s: %s', (host, origin, site, refused) => {
    expect(foreignRequest({ host, origin, site }, ['https://friend.example'])).toBe(refused);
  });

  it('takes names of this machine alone as such', () => {
    const names = ['localhost', '[::1]', '127.0.0.1', '0.0.0.0', 'local', '1127.0.0.1'];
    expect(names.filter(isLoopbackName)).toEqual(names.slice(0, 3));
  });
});
