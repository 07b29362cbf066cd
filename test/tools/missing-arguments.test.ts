import { describe, expect, it } from 'vitest';
import { tools } from '../../src/tools/index.js';
import { errorOf, resultOf, startUpstream } from './support/upstream.js';

/** What tools say that were asked nothing, beside an empty text. */
const OUTPUTS: Readonly<Record<string, object>> = {
  deepl_translate: { formalized_content: '' },
  email: { success: false, rejected: [] },
  iwencai: { report: '' },
  web_crawler: { formalized_content: '', json: {} },
  yahoo_finance: { report: '' },
};

/** Tools that need more than a text, or whose text may be missing. */
const OTHERS = [
  ...['execute_code', 'execute_sql', 'jin10', 'querit_contents', 'tavily_extract'],
  ...['currency', 'datetime', 'sales', 'system_metrics', 'ticket', 'weather'],
];

describe.each(tools.filter(({ name }) => !OTHERS.includes(name)).map((tool) => ({ name: tool.name, tool })))(
  '$name',
  ({ name, tool }) => {
    const [main = ''] = Object.keys(tool.nodeDefaults ?? {});

    it.each([
      ['missing', {}],
      ['null', { [main]: null }],
      ['blank', { [main]: ' \n' }],
    ])('finds nothing, and asks nobody, when its argument is %s', async (_how, args) => {
      const upstream = await startUpstream({});
      const found = await resultOf(tool, upstream.origin, { args });
      expect(found).toMatchObject({ text: '', outputs: OUTPUTS[name] ?? { formalized_content: '', json: [] } });
      expect(found.references).toBeUndefined();
      expect(upstream.asked).toEqual([]);
    });
  },
);

it.each([
  ['execute_sql', 'SQL for `ExeSQL` MUST not be empty.'],
  ['querit_contents', 'urls'],
  ['tavily_extract', 'urls'],
])('%s says what is missing', async (name, message) => {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  expect((await errorOf(tool, '', { params: { api_key: 'k' } })).message).toContain(message);
});
