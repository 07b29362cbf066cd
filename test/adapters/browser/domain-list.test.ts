import { describe, expect, it } from 'vitest';
import { createBrowsers } from '../../../src/adapters/browser/browsers.js';
import { checkDomain, readDomains } from '../../../src/adapters/browser/guard-proxy.js';
import { browser } from '../../../src/components/browser.js';

describe('a list of domains', () => {
  it.each<[string | string[], string[] | undefined]>([
    ['', []],
    [' example.org, Example.COM\n*.a.example ', ['example.org', 'example.com', 'a.example']],
    [
      ['.münchen.example', '127.0.0.1', 'localhost'],
      ['xn--mnchen-3ya.example', '127.0.0.1', 'localhost'],
    ],
    ['[::1]', ['::1']],
    ['https://example.org', undefined],
    ['example.org/path', undefined],
    ['example.org:80', undefined],
    ['a@b', undefined],
    ['*', undefined],
    [`${'a'.repeat(50_000)}!`, undefined],
  ])('%j', (given, expected) => {
    expect(readDomains(given)).toEqual(expected);
  });

  it.each<[string, string[][], boolean]>([
    ['https://example.org/', [], true],
    ['https://example.org/', [[], []], true],
    ['https://example.org/', [['example.org']], true],
    ['https://EXAMPLE.org./', [['example.org']], true],
    ['https://deep.shop.example.org/', [['example.org']], true],
    ['https://badexample.org/', [['example.org']], false],
    ['https://example.org.evil.example/', [['example.org']], false],
    ['https://org/', [['example.org']], false],
    ['https://a.example.org/', [['example.org'], ['b.example.org']], false],
    ['https://b.example.org/', [['example.org'], ['a.example', 'b.example.org']], true],
  ])('lets %s through %j: %s', (url, lists, isAllowed) => {
    const check = () => checkDomain(new URL(url), lists);
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow('its domain is not one of those that this browser may open');
  });

  it('is checked when browsers are made', () => {
    expect(() => createBrowsers({ allowedDomains: ['not a domain'] })).toThrow('"allowedDomains" must be');
  });

  it.each([
    [undefined, []],
    [null, []],
    ['example.org, b.example', ['example.org', 'b.example']],
    [['Example.org'], ['example.org']],
  ])('is a parameter of a node: %j', (given, expected) => {
    expect(browser.params.parse({ llm_id: 'm', allowed_domains: given })).toMatchObject({ allowed_domains: expected });
  });

  it('is refused as a parameter of a node where it holds something else', () => {
    expect(() => browser.params.parse({ llm_id: 'm', allowed_domains: 'https://example.org/' })).toThrow(
      'list of domains',
    );
  });
});
