import { describe, expect, it } from 'vitest';
import { safeLink, shownHost } from '../../web/parts/safe-link.js';

describe('links of documents and models', () => {
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a/b',
    '/studio/x',
    '//elsewhere.example/x',
    'x',
    '',
  ])('that lead nowhere safe: %j', (href) => {
    expect(safeLink(href)).toBeUndefined();
  });

  it.each([
    ['https://a.example/x?y#z', 'a.example'],
    ['http://a.example:8080/', 'a.example:8080'],
    ['https://good.example@bad.example/', 'bad.example'],
    ['mailto:me@a.example', 'me@a.example'],
    ['https://xn--80ak6aa92e.com/', 'xn--80ak6aa92e.com'],
  ])('that may be followed say where they lead: %s', (href, host) => {
    expect(shownHost(safeLink(href) as URL)).toBe(host);
  });
});
