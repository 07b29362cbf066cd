import { map, type Observable, of } from 'rxjs';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { oneOf, queryArgument, wholeNumber, words } from './fields.js';
import { pairsTable, rowsTable } from './results.js';
import { defineTool, type ToolEvent, toolResult } from './tool.js';
import { askJson, baseUrlOf } from './upstream.js';

const QUERY_TYPES = words(
  'stock zhishu fund hkstock usstock threeboard conbond insurance futures lccp foreign_exchange',
);

/**
 * Asks a service for Chinese stocks and funds. WenCai has no public interface, so the tool is switched off, and its report
 * empty, until the operator sets a base URL for it; there it POSTs `{query, query_type, perpage}` and reads rows, or tables
 * and texts by name.
 *
 * Errors: `TOOL_FAILED` with what that service answers.
 */
export const iwencai = defineTool({
  component: 'WenCai',
  name: 'iwencai',
  summary: 'Answers questions about Chinese stocks and funds, where the operator has set up a service for it.',
  advice: 'Ask in Chinese, with the conditions that the stocks or funds must meet.',
  arguments: { query: queryArgument('The question, in Chinese.') },
  params: {
    top_n: wholeNumber(10, 'Rows at most in each table; default 10.', { max: 1_000 }),
    query_type: oneOf(QUERY_TYPES, 'stock', 'What the question is about; default stock.'),
  },
  nodeDefaults: { query: '{sys.query}' },
  outputs: {
    report: {
      type: 'string',
      description: 'Tables and texts in Markdown; empty while no base URL is set in RUNNEL_TOOL_BASE_URLS.',
    },
  },
  primaryOutput: 'report',
  timeoutSeconds: 12,
  call({ query }, call): Observable<ToolEvent> {
    const url = baseUrlOf(iwencai, call.services, '');
    if (query.trim() === '' || url === '') return of(toolResult('', { report: '' }));
    const { top_n: most, query_type } = call.params;
    return askJson(iwencai, call, {
      url,
      method: 'POST',
      json: { query, query_type, perpage: most },
      timeoutSeconds: 10,
      attempts: 2,
    }).pipe(
      map((answer) => {
        const report = reportOf(answer, most);
        return toolResult(report, { report });
      }),
    );
  },
});

function reportOf(answer: Json, most: number): string {
  if (typeof answer === 'string') return answer;
  if (Array.isArray(answer)) return tableOf(answer, most);
  if (!isJsonObject(answer)) return '';
  const sections = Object.entries(answer).map(([name, part]) => ({ name, body: bodyOf(part, most) }));
  const filled = sections.filter(({ body }) => body !== '');
  return filled.map(({ name, body }) => `${name}\n${body}`).join('\n\n');
}

/** Objects with `meta` describe how WenCai's own page shows something, and hold nothing to read. */
function bodyOf(part: Json, most: number): string {
  if (typeof part === 'string') return part.trim();
  if (Array.isArray(part)) return tableOf(part, most);
  return isJsonObject(part) && !Object.hasOwn(part, 'meta') && Object.keys(part).length > 0 ? pairsTable(part) : '';
}

/** Rows that only hold a picture are left out. */
function tableOf(rows: readonly Json[], most: number): string {
  const readable = rows.filter((row): row is JsonObject => isJsonObject(row) && !Object.hasOwn(row, 'image_url'));
  return rowsTable(readable.slice(0, most));
}
