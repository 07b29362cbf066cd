import { concatMap, map, type Observable, of } from 'rxjs';
import { toolFailed } from '../adapters/failures.js';
import { ownObject } from '../dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { oneOf, queryArgument, text, withoutEndSlashes, words } from './fields.js';
import { defineTool, type ToolEvent, type ToolResult, toolResult } from './tool.js';
import { askJson, baseUrlOf, listAt, objectOf, textAt } from './upstream.js';

const LOOKUP_URL = 'https://geoapi.qweather.com';
const FREE_URL = 'https://devapi.qweather.com';
const PAID_URL = 'https://api.qweather.com';

const LANGUAGES = words(
  'zh zh-hant en de es fr it ja ko ru hi th ar pt bn ms nl el la sv id pl tr cs et vi fil fi he is nb',
);

/** What the codes of an answer mean. */
const PROBLEMS: Readonly<Record<string, string>> = {
  '204': 'QWeather has no data for this place.',
  '400': 'QWeather could not read the request; the name of the place may be wrong.',
  '401': 'QWeather refused the key.',
  '402': 'The account has used up its requests, or its balance.',
  '403': 'The account may not read this.',
  '404': 'QWeather does not know this place.',
  '429': 'QWeather was asked too often in a minute.',
  '500': 'QWeather has a problem of its own.',
};

/** Gives weather through QWeather. Errors: `TOOL_FAILED` without a key or when QWeather cannot be asked. */
export const qweather = defineTool({
  component: 'QWeather',
  name: 'qweather',
  summary: 'Gives the weather, its forecast, advice for daily life, or the quality of the air in a city.',
  arguments: { query: queryArgument('Name of the city.') },
  params: {
    web_apikey: text('Key of QWeather.'),
    api_host: text(
      'Host of the account, such as abc123.re.qweatherapi.com; default the hosts that all accounts share.',
    ),
    lang: oneOf(LANGUAGES, 'zh', 'Language of the answer; default zh.'),
    type: oneOf(['weather', 'indices', 'airquality'], 'weather', 'What to give; default weather.'),
    user_type: oneOf(['free', 'paid'], 'free', 'Kind of account, which decides the shared host; default free.'),
    time_period: oneOf(['now', '3d', '7d', '10d', '15d', '30d'], 'now', 'Weather of which time; default now.'),
  },
  nodeDefaults: { query: '{sys.query}' },
  outputs: {
    formalized_content: { type: 'string', description: 'What was found, one line each.' },
    json: { type: 'any', description: 'The same as data: an object for now, a list of days otherwise.' },
  },
  timeoutSeconds: 12,
  call({ query }, call): Observable<ToolEvent> {
    if (query.trim() === '') return of(toolResult('', { formalized_content: '', json: [] }));
    const { web_apikey: key, lang, ...params } = call.params;
    if (key.trim() === '') throw toolFailed('there is no key; set "web_apikey"');
    const hosts = hostsOf(params, (usual) => baseUrlOf(qweather, call.services, usual));
    const asking = (url: string, query: Record<string, string>): Observable<JsonObject> =>
      askJson(qweather, call, {
        url,
        query: { ...query, key: key.trim(), lang },
        isForeign: hosts.isForeign,
        timeoutSeconds: 10,
        attempts: 2,
        secrets: [key.trim()],
      }).pipe(map(objectOf));
    return asking(hosts.lookup, { location: query.trim() }).pipe(
      concatMap((places) => {
        const id = textAt(listAt(places, 'location')?.[0], 'id');
        const code = textAt(places, 'code');
        if (code !== '200' || id === '') return of(problem(code === '200' ? '404' : code));
        const kind = params.type === 'indices' ? { type: '0' } : {};
        return asking(`${hosts.data}/v7/${pathOf(params)}`, { ...kind, location: id }).pipe(
          map((answer) => {
            const status = textAt(answer, 'code');
            return status === '200' ? found(answer, params.type) : problem(status);
          }),
        );
      }),
    );
  },
});

/** An account's own host has both services; what the operator set stands for the shared ones, and wins. */
function hostsOf(
  { api_host: host, user_type: account }: { readonly api_host: string; readonly user_type: string },
  baseUrl: (usual: string) => string,
) {
  const isSet = baseUrl('') !== '';
  if (host.trim() !== '' && !isSet) {
    const own = `https://${withoutEndSlashes(host.trim().replace(/^https?:\/\//i, ''))}`;
    return { lookup: `${own}/geo/v2/city/lookup`, data: own, isForeign: true };
  }
  const data = baseUrl(account === 'paid' ? PAID_URL : FREE_URL);
  return { lookup: `${baseUrl(LOOKUP_URL)}/v2/city/lookup`, data, isForeign: false };
}

function pathOf({ type, time_period: period }: { readonly type: string; readonly time_period: string }): string {
  if (type === 'weather') return `weather/${period}`;
  return type === 'indices' ? 'indices/1d' : 'air/now';
}

/** As in RAGFlow, the result carries the error in `_ERROR` instead of failing the node. */
function problem(code: string): ToolResult {
  const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
  const why = known ?? `QWeather answered with the code ${JSON.stringify(code.slice(0, 20))}.`;
  const content = `**Error** ${why}`;
  return toolResult(content, { formalized_content: content, json: [], _ERROR: why });
}

function found(answer: Json, type: string): ToolResult {
  const days = listAt(answer, 'daily')?.filter(isJsonObject);
  if (days === undefined) {
    const now = ownObject(answer, 'now') ?? {};
    const content = JSON.stringify(now);
    return toolResult(content, { formalized_content: content, json: now });
  }
  const content = days.map((day) => (type === 'indices' ? adviceLine(day) : JSON.stringify(day))).join('\n');
  return toolResult(content, { formalized_content: content, json: days });
}

function adviceLine(day: JsonObject): string {
  return `${textAt(day, 'date')}\n${textAt(day, 'name')}: ${textAt(day, 'category')}, ${textAt(day, 'text')}`;
}
