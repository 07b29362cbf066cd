import { map, type Observable, of } from 'rxjs';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { toolFailed } from '../adapters/failures.js';
import { oneOf, queryArgument, text, words } from './fields.js';
import { defineTool, type ToolEvent, toolResult } from './tool.js';
import { ask, baseUrlOf, jsonOf, listAt, requireKey, textAt } from './upstream.js';

const FREE_URL = 'https://api-free.deepl.com';
const PAID_URL = 'https://api.deepl.com';

/** The placeholder of an editor for a key. */
const NO_KEY = 'xxx';

const SHARED = 'AR BG CS DA DE EL ES ET FI FR HU ID IT JA KO LT LV NB NL PL RO RU SK SL SV TR UK ZH';
const SOURCES = words(`${SHARED} EN PT`);
const TARGETS = words(`${SHARED} EN-GB EN-US PT-BR PT-PT`);

/** Statuses that DeepL gives without a message. */
const REFUSALS = new Map([
  [403, 'DeepL does not accept the key (status 403)'],
  [456, 'the quota of the key is used up (status 456)'],
]);

/** Translates a text with DeepL. Errors: `TOOL_FAILED` without a key, or with what DeepL answers. */
export const deeplTranslate = defineTool({
  component: 'DeepL',
  name: 'deepl_translate',
  summary: 'Translates a text with DeepL.',
  advice: 'Pass the text itself and nothing else.',
  arguments: { query: queryArgument('The text to translate.') },
  params: {
    auth_key: text('Key of DeepL; default the environment variable DEEPL_AUTH_KEY.'),
    source_lang: oneOf(SOURCES, 'ZH', 'Language of the text; default ZH.'),
    target_lang: oneOf(TARGETS, 'EN-GB', 'Language to translate into; default EN-GB.'),
  },
  nodeDefaults: { query: '{sys.query}' },
  outputs: { formalized_content: { type: 'string', description: 'The translation.' } },
  timeoutSeconds: 12,
  call({ query }, call): Observable<ToolEvent> {
    if (query.trim() === '') return of(toolResult('', { formalized_content: '' }));
    const { auth_key: given, source_lang, target_lang } = call.params;
    const auth_key = given.trim() === NO_KEY ? '' : given;
    const key = requireKey({ services: call.services, params: { auth_key } }, 'auth_key', 'DEEPL_AUTH_KEY');
    const usual = key.endsWith(':fx') ? FREE_URL : PAID_URL;
    return ask(deeplTranslate, call, {
      url: `${baseUrlOf(deeplTranslate, call.services, usual)}/v2/translate`,
      method: 'POST',
      headers: { authorization: `DeepL-Auth-Key ${key}`, accept: 'application/json' },
      form: { text: query, source_lang, target_lang },
      timeoutSeconds: 15,
      attempts: 3,
      secrets: [key],
      accepts: (status) => REFUSALS.has(status),
    }).pipe(
      map((response) => {
        const translation = translationIn(response);
        return toolResult(translation, { formalized_content: translation });
      }),
    );
  },
});

function translationIn(response: EgressResponse): string {
  const refusal = REFUSALS.get(response.status);
  if (refusal !== undefined) throw toolFailed(refusal);
  const [first] = listAt(jsonOf(response), 'translations') ?? [];
  if (first === undefined) throw toolFailed('the answer holds no translation');
  return textAt(first, 'text');
}
