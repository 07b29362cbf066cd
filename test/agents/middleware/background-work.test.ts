import { lastValueFrom, map, Observable, Subject, tap, timer, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  agent,
  backgroundWork,
  createRunner,
  memoryFiles,
  type RunnerEvent,
  rounds,
  subAgents,
  type UserInput,
} from '../../../src/entries/agents.js';
import { defineTool, invoke, type RunEvent, recoverFrom } from '../../../src/index.js';
import { attempt, goOn, type RecordingModel, recordingModel, told } from './support.js';

const dig = (run: () => string | Observable<string> = () => 'gold') =>
  defineTool({ name: 'dig', description: 'Digs.', run });
const later = (text: string, ms = 20) => timer(ms).pipe(map(() => text));
/** Asks a person, and gives what it was answered. */
const ask = (calls: string[] = []) =>
  defineTool({
    name: 'sign',
    description: 'Signs.',
    input: z.object({ what: z.string() }),
    answer: z.string(),
    run: ({ what }, call) => {
      calls.push(`${what}${call.answer === undefined ? '?' : `: ${call.answer}`}`);
      return call.answer === undefined ? call.interrupt(`Sign ${what}?`) : `${what} ${call.answer}`;
    },
  });
const last = (model: RecordingModel) => told(model.requests.at(-1) as never).at(-1);

describe('backgroundWork', () => {
  it.each([
    [{ afterMs: -1 }, 'backgroundWork: "afterMs" must be a whole number of at least 0; received -1.'],
    [{ whenEnded: 'stop' }, 'backgroundWork: "whenEnded" must be "await" or "cancel"; received "stop".'],
    [{ agents: false }, 'backgroundWork: "tools" must be at least one name where agents are left out; received a list'],
    [{ space: {} }, 'backgroundWork: "space" must be'],
    [{ after: 1 }, 'backgroundWork: there is no option "after"'],
  ])('refuses %j', (options, message) => {
    expect(() => backgroundWork(options as never)).toThrow(message);
  });

  it('refuses a tool that its agent does not have, and one whose argument has the name of its own', () => {
    const use = [backgroundWork({ tools: ['digg'] })];
    expect(() => agent({ name: 'lead', tools: [dig()], use })).toThrow(
      'agent "lead": backgroundWork names the tool "digg", which the agent does not have. Did you mean "dig"?',
    );
    for (const tools of [[], ['wait_work']]) {
      expect(() => agent({ name: 'lead', tools: [dig()], use: [backgroundWork({ tools })] })).toThrow(
        'agent "lead" has nothing that backgroundWork could move.',
      );
    }
    const input = z.object({ in_background: z.boolean() });
    const own = defineTool({ name: 'own', description: 'Own.', input, run: () => '' });
    expect(() => agent({ name: 'lead', tools: [own], use: [backgroundWork({ tools: ['own'] })] })).toThrow(
      'agent "lead": the tool "own" has an argument "in_background"',
    );
  });

  it('refuses calls beyond its number, and says what is wrong with arguments', async () => {
    const calls = [
      { tool: 'dig', id: 'a' },
      { tool: 'dig', id: 'b' },
      { tool: 'delegate', args: { request: ' ' }, id: 'c' },
    ];
    const model = recordingModel(calls, 'ok');
    const use = [subAgents(), backgroundWork({ tools: ['dig'], maxWorks: 1 })];
    expect(await invoke(agent({ name: 'lead', model, tools: [dig()], use }), 'go')).toBe('ok');
    expect(told(model.requests[1] as never).slice(-3)).toEqual([
      'tool: gold',
      'tool: Not begun: 1 works are in the background already. Wait for one, or stop one.',
      'tool: The request is empty. Write what the agent has to do.',
    ]);
  });

  it('offers the argument by which a model asks for the background, of these tools alone', async () => {
    const other = defineTool({ name: 'other', description: 'Other.', run: () => '' });
    const model = recordingModel('ok');
    await invoke(
      agent({ name: 'lead', model, tools: [dig(), other], use: [backgroundWork({ tools: ['dig'] })] }),
      'go',
    );
    const offered = model.requests[0]?.tools ?? [];
    const asks = offered.filter(({ parameters }) => 'in_background' in ((parameters.properties ?? {}) as object));
    expect(asks.map(({ name }) => name)).toEqual(['dig']);
    expect(offered.map(({ name }) => name)).toEqual(['dig', 'other', 'check_work', 'wait_work', 'stop_work']);
  });

  it('cancels what is left when no more tools may be called', async () => {
    let open = 0;
    const never = () =>
      new Observable<string>(() => {
        open += 1;
        return () => {
          open -= 1;
        };
      });
    const model = recordingModel([{ tool: 'dig' }], 'ok');
    const use = [backgroundWork({ tools: ['dig'], afterMs: 0 })];
    const lead = agent({ name: 'lead', model, tools: [dig(never)], use, stopWhen: [rounds(1)] });
    expect(await invoke(lead, 'go')).toBe('ok');
    expect(open).toBe(0);
  });

  it('goes on with other rounds while agents ask, and asks for each at its own address, in any order', async () => {
    const calls: string[] = [];
    const sign = [{ tool: 'sign', args: { what: 'it' } }];
    const writer = (model: RecordingModel) =>
      agent({ name: 'writer', description: 'Writes.', model, tools: [ask(calls)] });
    const give = (id: string) => ({ tool: 'delegate', args: { agent: 'writer', request: 'Write.' }, id });
    const make = (model: RecordingModel, by = recordingModel('Written.')) => {
      const use = [subAgents({ agents: [writer(by)], general: false }), backgroundWork({ afterMs: 0 })];
      return agent({ name: 'lead', model, use });
    };
    const begins = recordingModel([give('a')], [give('b')], 'Both are at work.');
    const first = await attempt(make(begins, recordingModel(sign)), 'go');
    expect(first.type === 'asks' && first.questions.map(({ address }) => address)).toEqual([
      'work[1]/writer/tools#c1',
      'work[2]/writer/tools#c1',
    ]);
    const between = recordingModel('One is done.');
    const second = await goOn(make(between), first, { 'work[2]/writer/tools#c1': 'yes' });
    expect(second.type === 'asks' && second.questions.map(({ address }) => address)).toEqual([
      'work[1]/writer/tools#c1',
    ]);
    expect(last(between)).toMatch(/w2 \(delegate\): done\nWritten\.$/);
    const end = recordingModel('All is done.');
    expect(await goOn(make(end), second, { 'work[1]/writer/tools#c1': 'no' })).toEqual({
      type: 'done',
      value: 'All is done.',
    });
    expect(last(end)).toMatch(/w1 \(delegate\): done\nWritten\.$/);
    expect(calls).toEqual(['it?', 'it?', 'it: yes', 'it: no']);
  });

  it('stops a work that asks, and asks no more', async () => {
    const model = recordingModel(
      [{ tool: 'sign', args: { what: 'it', in_background: true } }],
      [{ tool: 'dig' }],
      [{ tool: 'stop_work', args: { id: 'w1' } }],
      'ok',
    );
    const use = [backgroundWork({ tools: ['sign'] })];
    expect(await attempt(agent({ name: 'lead', model, tools: [ask(), dig(() => later('gold'))], use }), 'go')).toEqual({
      type: 'done',
      value: 'ok',
    });
  });

  describe('with its process lost', () => {
    const lost = async (whenLost: 'again' | 'tell', until: (event: RunEvent) => boolean) => {
      const keys: string[] = [];
      const tool = defineTool({
        name: 'dig',
        description: 'Digs.',
        run: (_, call) => {
          keys.push(call.key);
          return later('gold');
        },
      });
      const model = recordingModel([{ tool: 'dig' }], 'Waiting.', 'ok');
      const lead = (by: RecordingModel) =>
        agent({
          name: 'lead',
          model: by,
          tools: [tool],
          use: [backgroundWork({ tools: ['dig'], afterMs: 0, whenLost })],
        });
      let snapshot: unknown;
      const events: RunEvent[] = [];
      const log = {
        snapshot: (checkpoint: unknown) => {
          snapshot ??= JSON.parse(JSON.stringify(checkpoint));
        },
        append: (event: RunEvent) => events.push(JSON.parse(JSON.stringify(event))),
        flush: async () => {},
      };
      await invoke(lead(model), 'go', { log: log as never });
      const kept = events.slice(0, events.findIndex(until) + 1);
      expect(kept.length).toBeGreaterThan(0);
      const after = recordingModel('ok');
      expect(await invoke(lead(after), recoverFrom({ snapshot, events: kept } as never))).toBe('ok');
      return { keys, after };
    };
    const isAnswer = (event: RunEvent) => event.type === 'node-settled' && event.node === 'answer';
    const isKept = (event: RunEvent) => event.type === 'node-settled' && event.node === 'work/keep:result';

    it('makes the call again, with its key', async () => {
      const { keys, after } = await lost('again', isAnswer);
      expect(keys).toHaveLength(2);
      expect(keys[1]).toBe(keys[0]);
      expect(last(after)).toMatch(/w1 \(dig\): done\ngold$/);
    });

    it('tells that it is lost, if it is to', async () => {
      const { keys, after } = await lost('tell', isAnswer);
      expect(keys).toHaveLength(1);
      expect(last(after)).toMatch(/w1 \(dig\): lost\nIt was lost when its process ended/);
    });

    it.each(['again', 'tell'] as const)('does nothing again that is recorded as done (%s)', async (whenLost) => {
      const { keys, after } = await lost(whenLost, isKept);
      expect(keys).toHaveLength(1);
      expect(last(after)).toMatch(/w1 \(dig\): (done\ngold|lost)/);
    });
  });

  it('keeps results in files within their bound, and tells the beginning and the path', async () => {
    const space = memoryFiles();
    const text = `${'ä'.repeat(100)} end`;
    const model = recordingModel([{ tool: 'dig' }], 'ok');
    const use = [backgroundWork({ tools: ['dig'], space, maxBytes: 51, maxCharacters: 10 })];
    await invoke(agent({ name: 'lead', model, tools: [dig(() => text)], use }), 'go');
    const path = /work\/w1-[0-9a-f]{12}\.txt/.exec(last(model) as string)?.[0] as string;
    expect(last(model)).toBe(
      `tool: ${'ä'.repeat(10)}\n[The result has 104 characters; this is its beginning. All of it is in the file ${path}.]`,
    );
    expect((await space.read(path)).lines).toEqual(['ä'.repeat(25)]);
  });

  it('lets the model look at what a tool has given so far', async () => {
    const space = memoryFiles();
    const pieces$ = new Subject<string>();
    const look = defineTool({
      name: 'look',
      description: 'Looks when the file is there.',
      run: async () => {
        pieces$.next('half ');
        while ((await space.glob('work/*')).found.length === 0) await new Promise(setImmediate);
        return 'there';
      },
    });
    const model = recordingModel(
      [{ tool: 'dig', args: { in_background: true } }],
      [{ tool: 'look' }],
      [{ tool: 'check_work', args: { id: 'w1' } }],
      [{ tool: 'stop_work', args: { id: 'w1' } }],
      'ok',
    );
    const use = [backgroundWork({ tools: ['dig'], space })];
    expect(await invoke(agent({ name: 'lead', model, tools: [dig(() => pieces$), look], use }), 'go')).toBe('ok');
    expect(told(model.requests[3] as never).at(-1)).toMatch(
      /^tool: w1 \(dig\): at work, \d+ s\n\nWhat it has given so far ends with this; all of it is in the file work\/w1-\w+\.txt:\nhalf $/,
    );
  });

  it('goes on with an input that comes while it rests', async () => {
    const input$ = new Subject<UserInput>();
    const model = recordingModel(
      [{ tool: 'dig' }],
      'Waiting.',
      [{ tool: 'stop_work', args: { id: 'w1' } }],
      'Stopped.',
    );
    const use = [backgroundWork({ tools: ['dig'], afterMs: 0 })];
    const runner = createRunner({ agent: agent({ name: 'lead', model, tools: [dig(() => new Subject())], use }) });
    const events = await lastValueFrom(
      runner.run('go', { session: 's', input$ }).pipe(
        tap((event: RunnerEvent) => {
          if (event.type === 'node-started' && event.node.endsWith('rest')) input$.next({ id: 'i', content: 'Stop.' });
        }),
        toArray(),
      ),
    );
    expect(events.at(-1)).toMatchObject({ type: 'turn-ended', status: 'succeeded', text: 'Stopped.' });
    expect(told(model.requests[2] as never).at(-1)).toBe('user: Stop.');
  });

  it('speaks Chinese', async () => {
    const model = recordingModel([{ tool: 'dig', args: { in_background: true } }], [{ tool: 'wait_work' }], 'ok');
    const use = [backgroundWork({ tools: ['dig'], language: 'zh' })];
    await invoke(agent({ name: 'lead', model, tools: [dig(() => later('金'))], use }), '挖');
    const texts = model.requests
      .flatMap((request) => told(request as never))
      .filter((text) => !/^(user|assistant): /.test(text));
    const tools = (model.requests[0]?.tools ?? []).filter(({ name }) => name.endsWith('_work'));
    const all = [...texts, ...tools.map(({ description }) => `tool: ${description}`)];
    for (const text of all) expect(text.replace(/^\w+: /, '')).toMatch(/[\u4e00-\u9fff]/);
  });
});

describe('a step that asks nothing', () => {
  it('looks again with every resume, whatever is answered', async () => {
    const model = recordingModel([{ tool: 'sign', args: { what: 'it' } }], 'ok');
    const make = () =>
      agent({ name: 'lead', model, tools: [ask()], use: [backgroundWork({ tools: ['sign'], afterMs: 50_000 })] });
    const first = await attempt(make(), 'go');
    const still = await goOn(make(), first, {});
    expect(still.type === 'asks' && still.questions.map(({ address }) => address)).toEqual(['work[1]/tool#c1']);
    expect(await goOn(make(), still, { 'work[1]/tool#c1': 'yes' })).toEqual({ type: 'done', value: 'ok' });
  });
});
