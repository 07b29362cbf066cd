import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { oneOf, text } from './fields.js';
import { cellOf, rowsTable } from './results.js';
import { defineTool, type ShapeOutput, type ToolEvent, toolResult } from './tool.js';
import { askJson, baseUrlOf, listAt, requireKey, textAt } from './upstream.js';

const BASE_URL = 'https://open-data-api.jin10.com';

/** Rows of a result; some lists of symbols have thousands. */
const MAX_ROWS = 500;
const MAX_COLUMNS = 50;

/** Columns that Jin10 gives as single letters, by what they hold. */
const COLUMNS = {
  symbols: { c: 'Commodity Code', e: 'Stock Exchange', n: 'Commodity Name', t: 'Commodity Type' },
  quotes: {
    a: 'Selling Price',
    b: 'Buying Price',
    c: 'Commodity Code',
    e: 'Stock Exchange',
    h: 'Highest Price',
    hc: "Yesterday's Closing Price",
    l: 'Lowest Price',
    o: 'Opening Price',
    p: 'Latest Price',
    t: 'Market Quote Time',
  },
} as const;

const params = {
  type: oneOf(['flash', 'calendar', 'symbols', 'news'], 'flash', 'What to give; default flash.'),
  secret_key: text('Key of Jin10; default the environment variable JIN10_SECRET_KEY.'),
  flash_type: oneOf(['1', '2', '3', '4', '5'], '1', 'Category of flash news, 1 to 5; default 1.'),
  calendar_type: oneOf(['cj', 'qh', 'hk', 'us'], 'cj', 'Market of the calendar; default cj.'),
  calendar_datatype: oneOf(['data', 'event', 'holiday'], 'data', 'What of the calendar; default data.'),
  symbols_type: oneOf(['GOODS', 'FOREX', 'FUTURE', 'CRYPTO'], 'GOODS', 'Kind of symbols; default GOODS.'),
  symbols_datatype: oneOf(['symbols', 'quotes'], 'symbols', 'Symbols, or their quotes; default symbols.'),
  contain: text('Only what contains this word, where the call names none; default everything.'),
  filter: text('Nothing that contains this word; default nothing is left out.'),
};

/** Gives financial news and data of Jin10. Errors: `TOOL_FAILED` without a key, or with what Jin10 answers. */
export const jin10 = defineTool({
  component: 'Jin10',
  name: 'jin10',
  summary: 'Gives flash news, the economic calendar, symbols and quotes, or articles of Jin10.',
  arguments: {
    query: z.string().default('').describe('Only what contains this word; default everything.'),
  },
  params,
  outputs: {
    formalized_content: { type: 'string', description: 'Flash news as paragraphs, everything else as a table.' },
    json: { type: 'array', description: 'The rows, with the names of their columns.' },
  },
  timeoutSeconds: 30,
  call({ query }, call): Observable<ToolEvent> {
    const key = requireKey(call, 'secret_key', 'JIN10_SECRET_KEY');
    const wanted: Wanted = {
      ...call.params,
      contain: query.trim() || call.params.contain.trim(),
      filter: call.params.filter.trim(),
    };
    const { path, query: asked } = requestOf(wanted);
    return askJson(jin10, call, {
      url: `${baseUrlOf(jin10, call.services, BASE_URL)}/data-api/${path}`,
      query: asked,
      headers: { 'secret-key': key },
      timeoutSeconds: 15,
      attempts: 2,
      secrets: [key],
    }).pipe(
      map((answer) => {
        const rows = rowsIn(answer, key);
        const json = (wanted.type === 'flash' ? rows : chosen(rows, wanted)).slice(0, MAX_ROWS);
        const content = wanted.type === 'flash' ? flashText(json) : rowsTable(json, MAX_COLUMNS);
        return toolResult(content, { formalized_content: content, json });
      }),
    );
  },
});

/** What the document asks for. */
type Wanted = ShapeOutput<typeof params>;

function requestOf(wanted: Wanted) {
  const { contain, filter, symbols_datatype: kind } = wanted;
  const requests = {
    flash: {
      path: 'flash',
      query: { category: wanted.flash_type, contain: contain || undefined, filter: filter || undefined },
    },
    calendar: { path: `calendar/${wanted.calendar_datatype}`, query: { category: wanted.calendar_type } },
    symbols: { path: kind, query: { type: wanted.symbols_type, codes: kind === 'quotes' ? 'BTCUSD' : undefined } },
    news: { path: 'news', query: {} },
  };
  return requests[wanted.type];
}

function rowsIn(answer: Json, key: string): JsonObject[] {
  const rows = listAt(answer, 'data');
  const status = textAt(answer, 'status');
  if (rows === undefined || (status !== '' && status !== '200')) {
    const why = quoteResponse(textAt(answer, 'message'), [key]);
    throw toolFailed(why || `the answer holds no data (its status is ${quoteResponse(status) || 'missing'})`);
  }
  return rows.filter(isJsonObject);
}

function flashText(rows: readonly JsonObject[]): string {
  const texts = rows.map(({ data }) => textAt(data, 'content').trim());
  return texts.filter((text) => text !== '').join('\n\n');
}

function chosen(rows: readonly JsonObject[], wanted: Wanted): JsonObject[] {
  const columns = wanted.type === 'symbols' ? COLUMNS[wanted.symbols_datatype] : {};
  return rows.map((row) => renamed(row, columns)).filter((row) => isWanted(Object.values(row).map(cellOf), wanted));
}

function renamed(row: JsonObject, columns: Readonly<Record<string, string>>): JsonObject {
  const nameOf = (name: string): string => (Object.hasOwn(columns, name) ? (columns[name] ?? name) : name);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [nameOf(name), value]));
}

/** Flash news are filtered by Jin10 itself, the rest here. */
function isWanted(texts: readonly string[], { contain, filter }: Wanted): boolean {
  const has = (word: string): boolean => texts.some((one) => one.toLowerCase().includes(word.toLowerCase()));
  return (contain === '' || has(contain)) && (filter === '' || !has(filter));
}
