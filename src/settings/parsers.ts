/** How the texts of single settings are read; each gives a value, or the rest of a sentence that begins with the setting's name. */
import { readDomains } from '../adapters/browser/guard-proxy.js';
import { checkUrl } from '../adapters/egress/url-policy.js';
import { isJsonObject, parseJson } from '../json.js';
import { type AddressRange, parseRange } from './access.js';
import { listOf, type Parsed } from './setting.js';

/** Port of RAGFlow's executor service. */
const SANDBOX_PORT = 9385;

/** Providers of sandboxes that RAGFlow has and Runnel has not. */
const FOREIGN_PROVIDERS = new Set(['local', 'ssh', 'e2b', 'aliyun_codeinterpreter', 'tenki', 'ucloud_agent_sandbox']);

const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
const UNITS_BYTES: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

export function origins(given: string): Parsed<readonly string[]> {
  const value = listOf(given);
  const isOrigin = (text: string): boolean => text === '*' || (URL.canParse(text) && new URL(text).origin === text);
  if (value.every(isOrigin)) return { value };
  return { problem: 'must name origins such as "https://app.example.com", or "*"' };
}

export function addressRanges(given: string): Parsed<readonly AddressRange[]> {
  const ranges = listOf(given).map(parseRange);
  if (ranges.every((range) => range !== undefined)) return { value: ranges };
  return { problem: 'must name addresses or ranges such as "10.0.0.0/8"' };
}

/** Names of engines; this one is always among them. */
export function runtimes(given: string): Parsed<readonly string[]> {
  return { value: [...new Set(['runnel', ...listOf(given)])] };
}

export function domains(given: string): Parsed<readonly string[]> {
  const value = readDomains(given);
  return value === undefined ? { problem: 'must be a list of domains such as "example.org,example.com"' } : { value };
}

/** A value that is not a whole number above 0 is ignored, as in RAGFlow, so that bad input never widens a limit. */
export function clockSeconds(given: string): number | undefined {
  return /^\d+$/.test(given) && Number(given) > 0 ? Number(given) : undefined;
}

export function sandboxProvider(given: string): Parsed<'embedded' | 'self_managed'> {
  const name = given.toLowerCase();
  if (name === 'embedded' || name === 'self_managed') return { value: name };
  const problem = FOREIGN_PROVIDERS.has(name) ? 'is not available in Runnel' : 'is not known';
  return {
    problem: `${JSON.stringify(given)} ${problem}; use "embedded" (in this process) or "self_managed" (an executor service)`,
  };
}

/** The URL of the executor service, from a host name, `host:port` or a URL. */
export function sandboxEndpoint(given: string): Parsed<string> {
  const host = given.includes(':') ? given : `${given}:${SANDBOX_PORT}`;
  const url = /^https?:\/\//.test(given) ? given : `http://${host}`;
  return URL.canParse(url) ? { value: url } : { problem: 'must be a host name, host:port or a URL' };
}

/** Milliseconds, from `10s`, `1m30s` or a number of seconds. */
export function scriptTime(given: string): Parsed<number> {
  const text = given.toLowerCase();
  const parts = [...text.matchAll(/(\d+)(ms|h|m|s)/g)];
  const isNumber = /^\d+$/.test(text);
  const isWhole = parts.map(([part]) => part).join('') === text;
  const value = isNumber
    ? Number(text) * 1_000
    : parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS_MS[unit as string] as number), 0);
  if ((isWhole || isNumber) && value >= 1 && value <= 3_600_000) return { value };
  return { problem: 'must be a time up to one hour, such as 10s or 1m30s' };
}

/** Bytes, from `256m`, `1g` or a number of bytes. */
export function memorySize(given: string): Parsed<number> {
  const [, count, unit = ''] = /^(\d+)([bkmg]?)b?$/.exec(given.toLowerCase()) ?? [];
  const value = Number(count) * (UNITS_BYTES[unit] as number);
  if (value >= 32 * 1024 ** 2 && value <= 2 * 1024 ** 3) return { value };
  return { problem: 'must be 32m to 2g, such as 256m' };
}

/** A URL, as it was given. */
export function anyUrl(given: string): Parsed<string | undefined> {
  return URL.canParse(given) ? { value: given } : { problem: 'is no URL' };
}

/** Base URLs by names of tools. No problem quotes a URL, as one may contain a password. */
export function baseUrls(given: string): Parsed<Readonly<Record<string, string>>> {
  const object = parseJson(given);
  if (object === undefined) return baseUrlProblem('it is not valid JSON');
  if (!isJsonObject(object)) return baseUrlProblem('it is not a JSON object');
  const urls: [name: string, url: string][] = [];
  for (const [name, text] of Object.entries(object)) {
    const quoted = JSON.stringify(name);
    if (typeof text !== 'string') return baseUrlProblem(`the value of ${quoted} is not a text`);
    const url = readUrl(text, `the URL of ${quoted},`);
    if (typeof url === 'string') return baseUrlProblem(url);
    if (url.search !== '' || url.hash !== '') return baseUrlProblem(`the URL of ${quoted} has a "?" or "#" in it`);
    urls.push([name, url.href.replace(/\/+$/, '')]);
  }
  return { value: Object.fromEntries(urls) };
}

function baseUrlProblem(problem: string): { readonly problem: string } {
  const form =
    'a JSON object from names of tools to http or https URLs, such as {"tavily_search": "https://tavily.example.org"}';
  return { problem: `must be ${form}: ${problem}` };
}

/** The URL, or what is wrong with it. */
function readUrl(text: string, name: string): URL | string {
  try {
    return checkUrl(text, { reach: 'any' }, name);
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, '') : 'a URL cannot be read';
  }
}
