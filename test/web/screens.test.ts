/** Every screen: in both themes and languages axe finds nothing serious, and below a path prefix nothing is asked beside it. */
import type { Page } from 'playwright-core';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Route, Router, Switch } from 'wouter';
import { SCREENS as ALL, screenAt } from '../../web/screens.js';
import { ECHO, FORM } from '../transport/support/documents.js';
import { axeFindings } from './support/axe.js';
import { conversation, say } from './support/conversation.js';
import { startProxy } from './support/proxy.js';
import { hasChromium, named, type OpenedStudio, openStudio } from './support/studio.js';

/** What an address names. */
interface Things {
  readonly agent: string;
  readonly run: string;
}

/** An address for each path of `SCREENS` in `web/screens.ts`, and what is there when it has come. */
const SCREENS: Readonly<Record<string, readonly [address: (things: Things) => string, shows: string | RegExp | 1]>> = {
  '/agents': [() => '/agents', 'Agent 1'],
  '/agents/:agent/compare': [({ agent, run }) => `/agents/${agent}/compare?a=${run}&b=${run}`, /Agent 1/],
  '/agents/:agent/versions': [({ agent }) => `/agents/${agent}/versions`, /Agent 1/],
  '/agents/:agent/*?': [({ agent, run }) => `/agents/${agent}/runs/${run}`, 'you said x'],
  '/runs': [() => '/runs', 'Agent 1'],
  '/sessions': [() => '/sessions', 'Agent 1'],
  '/inbox': [() => '/inbox', 'Agent 2'],
  '/chat/:kind?/:id?': [() => '/chat', 1],
  '/datasets': [() => '/datasets', 1],
  '/research/:run?': [() => '/research', 1],
  '/evaluations': [() => '/evaluations', 1],
  '/settings': [() => '/settings', 1],
};

/** Screens of datasets, which need some: `test/web/datasets` and `test/web/graph` look at them. */
const ELSEWHERE = ['/datasets/:dataset/documents/:document', '/datasets/:dataset/:tab?', '/graph/:dataset'];

async function fill({ agent, server }: OpenedStudio): Promise<Things> {
  const [echo, form] = [await agent(ECHO), await agent(FORM)];
  const ask = (id: string) => server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' });
  const { run_id } = (await ask(echo)).body.data;
  await ask(form);
  return { agent: echo, run: run_id };
}

const shown = (page: Page, what: string | RegExp | 1) =>
  (what === 1 ? page.getByRole('heading', { level: 1 }) : page.getByText(what).filter({ visible: true }))
    .first()
    .waitFor();

describe('the table of screens', () => {
  it('has those that are looked at here, and no others', () => {
    expect(ALL.map(({ path }) => path).sort()).toEqual([...Object.keys(SCREENS), ...ELSEWHERE].sort());
  });

  it.each([
    '/agents',
    '/agents/',
    '/agents/a1',
    '/agents/a1/runs/r1',
    '/agents/a1/chat/s1',
    '/agents/a1/compare',
    '/agents/a1/compare/b',
    '/agents/a1/versions',
    '/Agents/a1/Versions',
    '/agents/a%2Fb',
    '/runs',
    '/runs/x',
    '/inbox',
    '/chat',
    '/chat/runs',
    '/chat/runs/r1',
    '/chat/runs/r1/x',
    '/datasets',
    '/datasets/d1',
    '/datasets/d1/search',
    '/datasets/d1/documents/x1',
    '/datasets/d1/documents/x1/more',
    '/graph/d1',
    '/graph/d1/more',
    '/research',
    '/research/r1',
    '/research/r1/x',
    '/evaluations',
    '/settings',
    '/settings.',
    '/',
    '/nowhere',
  ])('loads for %s what the router then shows', (path) => {
    const routes = ALL.map((screen) => createElement(Route, { key: screen.path, path: screen.path }, screen.path));
    const children = createElement(Switch, null, routes);
    const shown = renderToString(createElement(Router, { ssrPath: path, children }));
    expect(screenAt(path)?.path ?? '').toBe(shown);
  });
});

describe.skipIf(!hasChromium)(named('the screens'), () => {
  it.each([
    ['light', 'en-US'],
    ['dark', 'en-US'],
    ['light', 'zh-CN'],
    ['dark', 'zh-CN'],
  ] as const)('keep nobody out, %s and in %s', async (colorScheme, locale) => {
    const studio = await openStudio({ browser: { colorScheme, locale } });
    const things = await fill(studio);
    const found: string[] = [];
    for (const [path, [address, shows]] of Object.entries(SCREENS)) {
      await studio.open(address(things));
      await shown(studio.page, shows);
      found.push(...(await axeFindings(studio.page)).map((finding) => `${path} ${finding}`));
    }
    expect(found).toEqual([]);
  });

  it('work below a path prefix, and ask for nothing beside it', async () => {
    let strays: readonly string[] = [];
    const studio = await openStudio({
      address: async (server) => {
        const proxy = await startProxy({ prefix: '/tools/runnel', target: () => server.url });
        strays = proxy.strays;
        return proxy.url;
      },
    });
    expect(studio.url).toMatch(/\/tools\/runnel\/$/);
    const things = await fill(studio);
    for (const [address, shows] of Object.values(SCREENS)) {
      await studio.open(address(things));
      await shown(studio.page, shows);
    }
    await studio.open(`/agents/${things.agent}`);
    await say(studio.page, 'hello');
    await conversation(studio.page).getByText('you said hello').waitFor();
    expect(strays).toEqual([]);
  });
});
