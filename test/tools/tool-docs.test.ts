import { readFileSync } from 'node:fs';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TOOL_PAGE, toolDocs } from '../../scripts/generate-tool-docs.js';
import { describeParameters } from '../../src/components/catalogue.js';
import { text } from '../../src/tools/fields.js';
import { tools } from '../../src/tools/index.js';
import { defineTool, namesOf, toolResult } from '../../src/tools/tool.js';

const echo = defineTool({
  component: 'Echo',
  name: 'echo_text',
  aliases: ['echo'],
  summary: 'Says a text again.',
  advice: 'Keep it short.',
  arguments: {
    text: z.string().describe('What to say.'),
    mode: z.enum(['loud', 'soft']).default('soft').describe('How | where.'),
  },
  params: { api_key: text('The key.') },
  nodeDefaults: { text: '{sys.query}' },
  outputs: { content: { type: 'string', description: 'The text.' } },
  timeoutSeconds: 3,
  isRepeatable: false,
  call: () => of(toolResult('', {})),
});

describe('docs/tools.md', () => {
  it('is what `npm run docs:tools` writes', () => {
    expect(readFileSync(TOOL_PAGE, 'utf8')).toBe(toolDocs());
  });

  it('describes a tool by what it declares', () => {
    const page = toolDocs([echo]);
    expect(page.slice(page.indexOf('## '))).toBe(`## Echo

Says a text again.

For models: Keep it short.

Function \`echo_text\`; also known as \`echo\`. A call may take 3 seconds. It is never tried again.

| Argument | Type | Default | Meaning |
| --- | --- | --- | --- |
| \`text\` | string | required; a node takes \`"{sys.query}"\` | What to say. |
| \`mode\` | \`"loud"\` or \`"soft"\` | \`"soft"\` | How \\| where. |

| Parameter | Type | Default | Meaning |
| --- | --- | --- | --- |
| \`api_key\` | string | \`""\` | The key. |

| Output | Type | Meaning |
| --- | --- | --- |
| \`content\` | string | The text. |
`);
  });
});

describe('the tools', () => {
  it('have names that no two share', () => {
    const names = tools.flatMap((tool) => [...new Set(namesOf(tool).map((name) => name.toLowerCase()))]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it.each(tools.map((tool) => [tool.component, tool] as const))('have words for everything of %s', (_name, tool) => {
    const described = [tool.arguments, tool.params].flatMap((shape) => describeParameters(z.object({ ...shape })));
    const outputs = Object.values(tool.outputs as Record<string, { description: string }>);
    expect([...described, ...outputs].filter(({ description }) => description.trim() === '')).toEqual([]);
  });
});
