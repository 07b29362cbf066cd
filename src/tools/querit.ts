/** What the two tools of Querit share: where it is, its key, and how its answers are read. */
import { map, type Observable } from 'rxjs';
import { type Json, type JsonObject, parseJson } from '../json.js';
import type { AnyTool, ToolCall } from './tool.js';
import { ask, baseUrlOf, jsonOf, objectOf, requireKey, type UpstreamRequest } from './upstream.js';

const BASE_URL = 'https://api.querit.ai';

/** Asks Querit at a path below `/v1/`; emits its answer, an object. Errors: `TOOL_FAILED` without a key, or with what Querit answers. */
export function askQuerit(
  tool: AnyTool,
  call: ToolCall<{ readonly api_key: string }>,
  path: string,
  request: Pick<UpstreamRequest, 'json' | 'timeoutSeconds'>,
): Observable<JsonObject> {
  const key = requireKey(call, 'api_key', 'QUERIT_API_KEY');
  return ask(tool, call, {
    url: `${baseUrlOf(tool, call.services, BASE_URL)}/v1/${path}`,
    method: 'POST',
    headers: { accept: 'application/json', authorization: `Bearer ${key}` },
    ...request,
    attempts: 3,
    secrets: [key],
  }).pipe(
    map((response) => {
      const answer = objectOf(jsonOf(response));
      return parseExactly(response.text(), answer) as JsonObject;
    }),
  );
}

/** Digits from which on a number may not fit. */
const LONG = /\d{16}|\d\.\d{15}/;
const START = /"|-?\d[\d.eE+-]*/g;

/**
 * Reads JSON so that no digit is lost: a number that JavaScript cannot hold, such as an id of 19 digits, becomes a text.
 *
 * `parsed` is the value of the text, which must therefore be valid; it is given back when nothing is lost.
 */
export function parseExactly(text: string, parsed: Json): Json {
  return LONG.test(text) ? (parseJson(quoteLongNumbers(text)) ?? parsed) : parsed;
}

function quoteLongNumbers(text: string): string {
  const start = new RegExp(START);
  const pieces: string[] = [];
  let done = 0;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const [token] = match;
    if (token === '"') start.lastIndex = endOfString(text, match.index);
    else if (!isExact(token)) {
      pieces.push(text.slice(done, match.index), `"${token}"`);
      done = start.lastIndex;
    }
  }
  return [...pieces, text.slice(done)].join('');
}

/** The place behind the quote that ends the string which begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isExact(token: string): boolean {
  if (String(Number(token)) === token) return true;
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  return digits.length <= 15;
}
