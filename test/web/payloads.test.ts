/** Texts of documents, models, forms and tools that would run if a page let them: they stay text. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { documentOf } from '../transport/support/documents.js';
import { ASKING, answering, conversation, say } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const ELSEWHERE = 'https://elsewhere.example';

/** What models may write; `openStudio` fails the test when one of them runs, or anything is asked of another server. */
const HTML = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '"><svg onload=alert(3)>',
  '<iframe srcdoc="<script>alert(4)</script>"></iframe>',
  '<details open ontoggle=alert(5)>x</details>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(6)&gt;">',
  '<style>@import "https://elsewhere.example/a.css";</style>',
  '<meta http-equiv="refresh" content="0;url=https://elsewhere.example">',
  '<form action="https://elsewhere.example"><button>x</button></form>',
  '<base href="https://elsewhere.example">',
  '{{constructor.constructor("alert(7)")()}}',
];

const LINKS = [
  '[plain](javascript:alert(1))',
  '[mixed](JaVaScRiPt:alert(1))',
  '[encoded](&#106;avascript:alert(1))',
  '[split](java\tscript:alert(1))',
  '[reference][r]',
  '<javascript:alert(1)>',
  '[data](data:text/html,<script>alert(1)</script>)',
  '[vb](vbscript:msgbox(1))',
  '[file](file:///etc/passwd)',
  '[here](/studio/x)',
  `![picture](${ELSEWHERE}/?secret=1)`,
  `[![inside](${ELSEWHERE}/in.png)](javascript:alert(1))`,
  '[1](javascript:alert(1))',
  '\n```html\n<script>alert(1)</script>\n```\n',
  '\n| a | b |\n|---|---|\n| <img src=x onerror=alert(1)> | [t](javascript:alert(1)) |\n',
  '\n[r]: javascript:alert(1)',
];

/** Cuts texts so that tags come in two. */
const inPieces = (text: string, size: number): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

/** Schemes of all links, and elements that a text must not make. */
const made = (page: Page) =>
  page.evaluate(() => {
    const log = document.querySelector('[role=log]') as HTMLElement;
    const links = [...log.querySelectorAll('a')];
    return {
      schemes: [...new Set(links.map(({ protocol }) => protocol))].toSorted(),
      rels: [...new Set(links.map(({ rel }) => rel))],
      elements: log.querySelectorAll('script, iframe, img, style, meta, base, object, embed, math, form, link').length,
      handlers: [...log.querySelectorAll('*')].filter((one) => [...one.attributes].some(({ name }) => /^on/.test(name)))
        .length,
    };
  });

async function answerWith(text: string, end: string, size = 7) {
  const studio = await openStudio({ models: answering([...inPieces(text, size), `\n\n${end}`]) });
  const { page, open, agent } = studio;
  await open(`/agents/${await agent(ASKING)}`);
  await say(page, 'go');
  await conversation(page).getByText(end).waitFor();
  return studio;
}

describe.skipIf(!hasChromium)(named('texts on the page'), () => {
  it('that are HTML are shown as they were written', async () => {
    const { page } = await answerWith(HTML.join('\n\n'), 'the end');
    expect(await made(page)).toEqual({ schemes: [], rels: [], elements: 0, handlers: 0 });
    await conversation(page).getByText('<script>alert(1)</script>').first().waitFor();
    await conversation(page).getByText('<img src=x onerror=alert(2)>').first().waitFor();
  });

  it('have links to the web only, which say where they lead', async () => {
    const safe = `[good](${ELSEWHERE}/page) and <mail@elsewhere.example>`;
    const { page } = await answerWith(`${safe}\n\n${LINKS.join('\n')}`, 'the end');
    const found = await made(page);
    expect(found).toMatchObject({ schemes: ['https:', 'mailto:'], rels: ['noopener noreferrer'], elements: 0 });
    await conversation(page).getByText('(elsewhere.example)').first().waitFor();
    await conversation(page).getByText('(javascript:alert(1))').first().waitFor();
  });

  it.each([
    ['brackets', '['.repeat(100_000)],
    ['pairs of brackets', '[]('.repeat(33_000)],
    ['stars', '*a **b '.repeat(15_000)],
    ['quotations in each other', '>'.repeat(100_000)],
    ['one long word', 'x'.repeat(300_000)],
  ])('that are %s leave the page usable', async (_, text) => {
    const { page } = await answerWith(text, 'the end', 20_000);
    await say(page, 'still there?');
    await conversation(page).getByText('still there?').first().waitFor();
  });

  it('come in 4,000 pieces, each word once', async () => {
    const words = Array.from({ length: 4_000 }, (_, index) => `word${index} `);
    const { page } = await answerWith(words.join(''), 'the end', 6);
    expect(await conversation(page).getByText(words.join('').trim(), { exact: true }).count()).toBe(1);
  });

  it('stay text in titles, names, forms, their answers and errors', async () => {
    const evil = '"><img src=x onerror=alert(1)><svg onload=alert(2)>\u202Etxt';
    const inputs: JsonObject = {
      constructor: { name: evil, type: 'line', optional: true },
      one: { name: evil, type: 'options', options: [evil, 'javascript:alert(1)'], optional: false },
      two: { name: '{{constructor.constructor("alert(3)")()}}', type: 'paragraph', optional: true },
    };
    const dsl = documentOf({
      begin: ['Begin', ['UserFillUp:A'], { prologue: evil }],
      'UserFillUp:A': [
        'UserFillUp',
        ['Message:B'],
        { enable_tips: true, tips: `${evil} [x](javascript:alert(1))`, inputs },
      ],
      'Message:B': ['Message', [], { content: ['{UserFillUp:A@one} {UserFillUp:A@two}'] }],
    });
    const { page, open, server } = await openStudio();
    const { body } = await server.call('POST', '/api/v1/agents', { title: evil, description: evil, dsl });
    expect(body.code).toBe(0);
    await open('/agents');
    await page.getByText(evil).first().waitFor();
    await open(`/agents/${body.data.id}`);
    await say(page, evil);
    await page.getByRole('form').getByRole('combobox').selectOption(evil);
    await page.getByRole('form').getByRole('textbox').last().fill(`<script>alert(4)</script> ${evil}`);
    await page.getByRole('form').getByRole('button', { name: 'Send' }).first().click();
    await conversation(page).getByText('<script>alert(4)</script>').last().waitFor();
    expect(await made(page)).toMatchObject({ schemes: [], elements: 0, handlers: 0 });
    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('menuitem').first().waitFor();
  });

  it('stay text in names of nodes, tags, avatars and versions, also when they have 100 KB', async () => {
    const evil = '"><img src=x onerror=alert(1)><svg onload=alert(2)>\u202Etxt';
    const position = { x: 0, y: 0 };
    const data = { label: 'Message', name: `${evil}${'x'.repeat(100_000)}`, form: {} };
    const nodes = [
      { id: 'begin', type: 'beginNode', position, data: { label: 'Begin', name: evil, form: {} } },
      { id: 'Message:A', type: 'messageNode', position: { x: 400, y: 0 }, data },
    ];
    const dsl: JsonObject = {
      ...documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Message', [], { content: ['there'] }] }),
      graph: { nodes, edges: [] },
    };
    const { page, open, server, agent } = await openStudio();
    const published = await agent(dsl);
    await server.call('POST', `/api/v1/agents/${published}/versions`, { title: evil, description: evil });
    for (const avatar of [`${ELSEWHERE}/a.png`, 'javascript:alert(3)', evil]) {
      const { body } = await server.call('POST', '/api/v1/agents', { title: avatar, avatar, tags: `a ${evil}`, dsl });
      expect(body.code).toBe(0);
    }
    await open('/agents');
    await page.getByRole('button', { name: `a ${evil} 3` }).waitFor();
    expect(await page.locator('main').locator('img, script, svg[onload]').count()).toBe(0);
    await page.getByRole('link', { name: `${ELSEWHERE}/a.png`, exact: true }).click();
    await page
      .getByRole('group', { name: /Message$/ })
      .first()
      .waitFor();
    await say(page, 'go');
    await conversation(page).getByText('there', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Trace' }).click();
    await page.getByRole('row').last().waitFor();
    await page.getByRole('tab', { name: 'State' }).click();
    await page.getByRole('treeitem').first().waitFor();
    expect(await page.locator('main').locator('img, script, svg[onload]').count()).toBe(0);
    await open(`/agents/${published}/versions`);
    await page.getByText(evil).first().waitFor();
    expect(await page.locator('main').locator('img, script, svg[onload]').count()).toBe(0);
  });

  it('stay text in errors', async () => {
    const models = JSON.stringify({ scripted: { default: { error: '<img src=x onerror=alert(1)> {{7*7}}' } } });
    const { page, open, agent } = await openStudio({ models });
    await open(`/agents/${await agent(ASKING)}`);
    await say(page, 'go');
    await conversation(page).getByRole('alert').getByText('<img src=x onerror=alert(1)>').waitFor();
  });
});

describe.skipIf(!hasChromium)(named('the page of an agent'), () => {
  it.each([
    ['light', 'en-US'],
    ['dark', 'zh-CN'],
  ] as const)('has no serious fault of accessibility, %s, %s', async (colorScheme, locale) => {
    const models = answering([
      '# Title\n\nA *text* with `code`, [a link](https://elsewhere.example) and\n\n```js\nlet x;\n```\n',
    ]);
    const { page, open, agent } = await openStudio({ models, browser: { colorScheme, locale, bypassCSP: true } });
    await open(`/agents/${await agent(ASKING)}`);
    await page.getByRole('textbox').fill('go');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('let x;').waitFor();
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const { axe: tool } = window as unknown as { axe: { run(): Promise<{ violations: Found[] }> } };
      interface Found {
        readonly id: string;
        readonly impact: string;
        readonly nodes: readonly { readonly html: string }[];
      }
      const { violations } = await tool.run();
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]);
    });
    expect(found).toEqual([]);
  });
});
