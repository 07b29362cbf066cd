import { map, type Observable, of } from 'rxjs';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { ownValue } from '../dsl/json-copy.js';
import type { Json, JsonObject } from '../json.js';
import { oneOf, queryArgument, text, wholeNumber } from './fields.js';
import { rowsTable } from './results.js';
import { defineTool, type ToolEvent, toolResult } from './tool.js';
import { askJson, baseUrlOf, listAt, textAt } from './upstream.js';

const BASE_URL = 'http://api.tushare.pro';
const CHINA_MS = 8 * 3_600_000;
const SOURCES = ['sina', 'wallstreetcn', '10jqka', 'eastmoney', 'yuncaijing', 'fenghuang', 'jinrongjie'] as const;
const TIME = /^\d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2})?$/;

/** Gives Chinese financial news through TuShare. Errors: `TOOL_FAILED` without a token, or with what TuShare answers. */
export const tushare = defineTool({
  component: 'TuShare',
  name: 'tushare',
  summary: 'Gives short Chinese financial news that contain a keyword, from TuShare.',
  advice: 'Ask with one Chinese keyword.',
  arguments: { query: queryArgument('The keyword that the news must contain.') },
  params: {
    token: text('Token of TuShare.'),
    src: oneOf(SOURCES, 'eastmoney', 'Whose news; default eastmoney.'),
    start_date: text('From when on, in Chinese time; default "2024-01-01 09:00:00".', '2024-01-01 09:00:00'),
    end_date: text('Until when, in Chinese time; default now.'),
    keyword: text('Keyword in place of the argument; default none.'),
    top_n: wholeNumber(100, 'News at most, the first ones that TuShare gives; default 100.', { max: 1_500 }),
  },
  nodeDefaults: { query: '{sys.query}' },
  outputs: {
    formalized_content: { type: 'string', description: 'The news as a table in Markdown.' },
    json: { type: 'array', description: 'The news: datetime, content, title, channels.' },
  },
  timeoutSeconds: 35,
  check: ({ start_date: start, end_date: end }) =>
    [start, end]
      .filter((time) => time !== '' && !time.includes('{') && !TIME.test(time))
      .map((time) => `${JSON.stringify(time)} is no time; write 2024-01-01 or 2024-01-01 09:00:00`),
  call({ query }, call): Observable<ToolEvent> {
    const { token: given, src, start_date, end_date: end, keyword: fixed, top_n: most } = call.params;
    const keyword = (fixed.trim() || query.trim()).toLowerCase();
    if (keyword === '') return of(toolResult('', { formalized_content: '', json: [] }));
    const token = given.trim();
    if (token === '') throw toolFailed('there is no token; set "token"');
    const end_date = end.trim() || chineseTime(call.now());
    return askJson(tushare, call, {
      url: baseUrlOf(tushare, call.services, BASE_URL),
      method: 'POST',
      json: { api_name: 'news', token, params: { src, start_date, end_date } },
      timeoutSeconds: 15,
      attempts: 2,
      secrets: [token],
    }).pipe(
      map((answer) => {
        const news = rowsOf(answer, token).filter((row) => textAt(row, 'content').toLowerCase().includes(keyword));
        const kept = news.slice(0, most);
        const table = rowsTable(kept);
        return toolResult(table, { formalized_content: table, json: kept });
      }),
    );
  },
});

/** TuShare sends names of columns once, and rows as lists. */
function rowsOf(answer: Json, token: string): JsonObject[] {
  const code = textAt(answer, 'code');
  if (code !== '0') {
    const why = quoteResponse(textAt(answer, 'msg'), [token]);
    throw toolFailed(why || `TuShare answered with the code ${JSON.stringify(code.slice(0, 20))}`);
  }
  const data = ownValue(answer, 'data');
  const fields = (listAt(data, 'fields') ?? []).map(String);
  const rows = (listAt(data, 'items') ?? []).filter((row): row is Json[] => Array.isArray(row));
  return rows.map((row) => Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null])));
}

function chineseTime(now: number): string {
  return new Date(now + CHINA_MS).toISOString().slice(0, 19).replace('T', ' ');
}
