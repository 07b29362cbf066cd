/** What the two tools of Querit share: where it is, its key, and how its answers are read. */
import { map, type Observable } from 'rxjs';
import { toolFailed } from '../../adapters/failures.js';
import type { JsonObject } from '../../json.js';
import type { AnyTool, ToolCall } from '../tool.js';
import { settingOf } from '../tool-services.js';
import { ask, baseUrlOf, jsonOf, objectOf } from '../upstream.js';
import { parseExactly } from './parse-exactly.js';

const BASE_URL = 'https://api.querit.ai';

/** A question to Querit. */
export interface QueritRequest {
  /** Below `/v1/`. */
  readonly path: string;
  readonly json: JsonObject;
  readonly timeoutSeconds: number;
}

/** Asks Querit; emits its answer, an object. Errors: `TOOL_FAILED` without a key, or with what Querit answers. */
export function askQuerit(
  tool: AnyTool,
  call: ToolCall<{ readonly api_key: string }>,
  { path, json, timeoutSeconds }: QueritRequest,
): Observable<JsonObject> {
  const key = call.params.api_key.trim() || settingOf(call.services, 'QUERIT_API_KEY');
  if (key === undefined) {
    throw toolFailed('there is no key; set "api_key" or the environment variable QUERIT_API_KEY');
  }
  return ask(tool, call, {
    url: `${baseUrlOf(tool, call.services, BASE_URL)}/v1/${path}`,
    method: 'POST',
    headers: { accept: 'application/json', authorization: `Bearer ${key}` },
    json,
    timeoutSeconds,
    attempts: 3,
    secrets: [key],
  }).pipe(
    map((response) => {
      // The usual way first: it says when the text is no JSON at all.
      const answer = objectOf(jsonOf(response));
      return parseExactly(response.text(), answer) as JsonObject;
    }),
  );
}
