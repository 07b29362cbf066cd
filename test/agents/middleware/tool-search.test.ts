import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent } from '../../../src/agents/loop/agent.js';
import { agentTool } from '../../../src/agents/loop/agent-as-tool.js';
import { approve } from '../../../src/agents/middleware/approve.js';
import { toolRanking } from '../../../src/agents/middleware/rank-tools.js';
import { toolSearch } from '../../../src/agents/middleware/tool-search.js';
import { createRunner } from '../../../src/agents/runner/runner.js';
import { agentFrom } from '../../../src/agents/teams/agent-from.js';
import { defineTool, invoke } from '../../../src/index.js';
import { attempt, goOn, type RecordingModel, recordingModel, told } from './support.js';

const tool = (name: string, description: string) => defineTool({ name, description, run: () => `${name} done` });
const TOOLS = [
  tool('get_weather', 'Tells the weather in a city.'),
  tool('sendMail', 'Sends a letter to people.'),
  tool('book_flight', 'Books a seat in a plane. Asks for the city.'),
  tool('translate', '把一段文字翻译成中文'),
  tool('a_b_c', 'Matches (nothing).'),
];
const offered = (model: RecordingModel, round: number) => model.requests[round]?.tools?.map(({ name }) => name) ?? [];
const clerk = (model: RecordingModel, options: Partial<Parameters<typeof toolSearch>[0]> = {}) =>
  agent({ name: 'clerk', model, use: [toolSearch({ tools: TOOLS, ...options })] });
const search = (query: string, id = 's') => ({ tool: 'search_tools', args: { query }, id });

describe('ranking of tools', () => {
  it.each([
    ['a word of the name before one of a description', 'city weather', ['get_weather', 'book_flight']],
    ['words inside of names in two spellings', 'mail', ['sendMail']],
    ['other forms of a word', 'booking flights', ['book_flight']],
    ['Chinese by pairs of letters', '翻译', ['translate']],
    ['the beginning of a word', 'transl', ['translate']],
    ['a pattern as the words in it', '.*|(weather', ['get_weather']],
    ['stop words as nothing', 'the in a', []],
    ['nothing as nothing', '', []],
  ])('takes %s', (_, words, names) => {
    expect(
      toolRanking(TOOLS)(words)
        .hits.map(({ name }) => name)
        .slice(0, 2),
    ).toEqual(names);
  });

  it('knows what is spelt nearly so when nothing has the words', () => {
    expect(toolRanking(TOOLS)('wether').near.map(({ name }) => name)).toEqual(['get_weather']);
    expect(toolRanking(TOOLS)('xyzzy')).toEqual({ hits: [], near: [] });
  });
});

describe('toolSearch', () => {
  it('offers what was found, from the next round on, and keeps it offered', async () => {
    const model = recordingModel([search('weather')], [{ tool: 'get_weather' }], [search('mail')], 'ok');
    expect(await invoke(clerk(model, { always: ['translate'], maxResults: 1 }), 'go')).toBe('ok');
    expect(offered(model, 0)).toEqual(['search_tools', 'translate']);
    expect(offered(model, 1)).toEqual(['search_tools', 'get_weather', 'translate']);
    expect(offered(model, 3)).toEqual(['search_tools', 'get_weather', 'sendMail', 'translate']);
    expect(told(model.requests[1] as never).at(-1)).toBe(
      'tool: You can call these tools now:\n- get_weather: Tells the weather in a city.',
    );
    expect(told(model.requests[2] as never).at(-1)).toBe('tool: get_weather done');
    expect(told(model.requests[0] as never)[0]).toContain('There are 4 further tools');
  });

  it.each([
    ['the nearest', 'wether', 'tool: No tool has these words. Spelt nearly so are: get_weather'],
    ['all there are', 'xyzzy', /can be found: get_weather, sendMail, book_flight, translate, a_b_c$/],
  ])('names %s when nothing is found, and offers nothing', async (_, words, text) => {
    const model = recordingModel([search(words)], 'ok');
    await invoke(clerk(model), 'go');
    expect(told(model.requests[1] as never).at(-1)).toEqual(
      typeof text === 'string' ? text : expect.stringMatching(text),
    );
    expect(offered(model, 1)).toEqual(['search_tools']);
  });

  it('does not make a call of a tool that was not seen, and offers it then', async () => {
    const model = recordingModel([{ tool: 'sendMail' }, { tool: 'look' }], [{ tool: 'sendMail' }], 'ok');
    const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
    await invoke(agent({ name: 'clerk', model, tools: [look], use: [toolSearch({ tools: TOOLS })] }), 'go');
    const [early, other] = told(model.requests[1] as never).slice(-2);
    expect(early).toMatch(/^tool: sendMail was not called/);
    expect(other).toBe('tool: seen');
    expect(offered(model, 1)).toContain('sendMail');
    expect(told(model.requests[2] as never).at(-1)).toBe('tool: sendMail done');
  });

  it('lets what was found first make place for the newest, and keeps what was found again', async () => {
    const model = recordingModel([search('weather')], [search('mail')], [search('weather')], [search('flight')], 'ok');
    await invoke(clerk(model, { maxResults: 1, maxOffered: 2 }), 'go');
    expect(offered(model, 4)).toEqual(['search_tools', 'get_weather', 'book_flight']);
  });

  it('keeps what was found over a question and a resume over JSON', async () => {
    const model = recordingModel([search('weather')], [{ tool: 'get_weather', id: 'w' }], 'ok');
    const made = () =>
      agent({ name: 'clerk', model, use: [toolSearch({ tools: TOOLS, maxResults: 1 }), approve(['get_weather'])] });
    const waits = await attempt(made(), 'go');
    expect(await goOn(made(), waits, { 'review#approve/w': { approved: true } })).toEqual({
      type: 'done',
      value: 'ok',
    });
    expect(offered(model, 2)).toEqual(['search_tools', 'get_weather']);
    expect(told(model.requests[2] as never).at(-1)).toBe('tool: get_weather done');
  });

  it('keeps it over turns of a conversation', async () => {
    const model = recordingModel([search('mail')], 'ok');
    const runner = createRunner({ agent: clerk(model, { maxResults: 1 }) });
    await lastValueFrom(runner.run('go', { session: 's' }));
    await lastValueFrom(runner.run('again', { session: 's' }));
    expect(offered(model, 2)).toEqual(['search_tools', 'sendMail']);
  });

  it('hides agents as tools as well, and finds them', async () => {
    const writer = agentFrom({ name: 'writer', description: 'Writes poems.', run: () => 'Roses.' });
    const model = recordingModel([search('poem')], [{ tool: 'writer', args: { request: 'a line' } }], 'ok');
    await invoke(clerk(model, { tools: [agentTool(writer)] }), 'go');
    expect(offered(model, 0)).toEqual(['search_tools']);
    expect(told(model.requests[2] as never).at(-1)).toBe('tool: Roses.');
  });

  it('offers no search when tools may not be called any more', async () => {
    const model = recordingModel([search('mail')], 'ok');
    const last = agent({
      name: 'clerk',
      model,
      stopWhen: [({ round }) => (round > 0 ? 'Enough.' : undefined)],
      use: [toolSearch({ tools: TOOLS })],
    });
    await invoke(last, 'go');
    expect(offered(model, 1)).toEqual([]);
    expect(told(model.requests[1] as never)[0]).toBe('user: go');
  });

  it('speaks Chinese', async () => {
    const model = recordingModel([search('翻译')], 'ok');
    await invoke(clerk(model, { language: 'zh' }), 'go');
    expect(told(model.requests[0] as never)[0]).toContain('还有 5 个');
    expect(told(model.requests[1] as never).at(-1)).toBe(
      'tool: 现在可以调用这些工具：\n- translate: 把一段文字翻译成中文',
    );
  });

  it.each([
    ['no tools', {}],
    ['a name that no tool has', { tools: TOOLS, always: ['get_wether'] }],
    ['two tools of a name', { tools: [TOOLS[0], TOOLS[0]] }],
    ['less room than results', { tools: TOOLS, maxResults: 5, maxOffered: 4 }],
    ['an unknown option', { tools: TOOLS, pattern: 'x' }],
  ])('refuses %s', (_, options) => {
    expect(() => toolSearch(options as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
