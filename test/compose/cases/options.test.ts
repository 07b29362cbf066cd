/** Options for single steps in one run. */
import { map as mapEach } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  chain,
  componentFunction,
  graph,
  invoke,
  map,
  type OptionStep,
  observed,
  operator,
  options,
  run,
  type Step,
  type StepActivation,
  step,
} from '../../../src/index.js';
import { turns } from './support.js';

interface Style {
  readonly mark?: string;
  readonly times?: number;
}

/** A step that gives what its options are. */
function styled(name: string): OptionStep<unknown, Style, Style> {
  return step(name, (_: unknown, at: StepActivation) => at.options as Style);
}

/** Options of each step that a graph of three has: two in a graph inside. */
function nested(inner: Step<unknown, Style>, outer: Step<unknown, Style>): Step<unknown, readonly Style[]> {
  const writer = graph<unknown, readonly Style[]>('writer', (g) => {
    const one = g.node('one', inner);
    const two = g.node('two', inner);
    const both = g.node('both', (found: { one: Style; two: Style }) => [found.one, found.two] as readonly Style[]);
    g.edge(g.start, one);
    g.edge(g.start, two);
    g.join({ one, two }, both);
    g.edge(both, g.end);
  });
  return graph<unknown, readonly Style[]>('g', (g) => {
    const first = g.node('first', outer);
    const second = g.node('second', writer);
    const all = g.node('all', (found: { first: Style; second: readonly Style[] }) => [found.first, ...found.second]);
    g.edge(g.start, first);
    g.edge(g.start, second);
    g.join({ first, second }, all);
    g.edge(all, g.end);
  });
}

const invalid = (text: string) =>
  expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(text) });

describe('call options', () => {
  it('hold wherever the step object stands, and for no other step', async () => {
    const [a, b] = [styled('a'), styled('b')];
    const mark = { mark: '!' };
    expect(await invoke(nested(a, b), null, { with: [options(a, mark)] })).toEqual([{}, mark, mark]);
    expect(await invoke(nested(a, a), null, { with: [options(a, mark)] })).toEqual([mark, mark, mark]);
    expect(await invoke(map(a), [1, 2], { with: [options(a, mark)] })).toEqual([mark, mark]);
  });

  it('hold at one path into graphs inside', async () => {
    const a = styled('a');
    const given = [options(a, { mark: '?' }, { at: 'writer/two' })];
    const named = graph<unknown, readonly Style[]>('named', (g) => {
      const writer = g.node('writer', nested(a, a));
      g.edge(g.start, writer);
      g.edge(writer, g.end);
    });
    await expect(invoke(named, null, { with: given })).rejects.toThrow(invalid('Its paths are'));
    const there = [options(a, { mark: '?' }, { at: 'writer/second/two' })];
    expect(await invoke(named, null, { with: there })).toEqual([{}, {}, { mark: '?' }]);
  });

  it('of several for one step are laid over each other, field by field, the later ones on top', async () => {
    const a = styled('a');
    const given = [
      options(a, { mark: '1', times: 1 }),
      options(a, { mark: '2' }, { at: 'first' }),
      options(a, { times: 3, mark: undefined } as unknown as Style),
    ];
    expect(await invoke(nested(a, a), null, { with: given })).toEqual([
      { mark: '2', times: 3 },
      { mark: '1', times: 3 },
      { mark: '1', times: 3 },
    ]);
  });

  it('are frozen, and empty without any', async () => {
    const read = step('read', (_: unknown, at: StepActivation) => at.options);
    const given = await invoke(read, null, { with: [options(read, { a: 1 })] });
    expect([given, Object.isFrozen(given)]).toEqual([{ a: 1 }, true]);
    expect(await invoke(read, null)).toEqual({});
  });

  it('find a step that a chain named by its position, one with observers, and a component given as a function', async () => {
    const unnamed = operator<unknown, Style>((chunks, at) => chunks.pipe(mapEach(() => at.options as Style)));
    expect(await invoke(chain(styled('a'), unnamed), null, { with: [options(unnamed, { mark: 'x' })] })).toEqual({
      mark: 'x',
    });
    const a = styled('a');
    expect(await invoke(observed(a, { end: () => {} }), null, { with: [options(a, { mark: 'y' })] })).toEqual({
      mark: 'y',
    });
    const find = componentFunction(
      'find',
      'retriever',
      async (_: string, given: { topK?: number; signal?: AbortSignal } = {}) => given.topK,
    );
    expect(await invoke(chain(find), 'q', { with: [options(find, { topK: 3 })] })).toBe(3);
  });

  it('reach steps that run inside a step, whose own run lays its options on top', async () => {
    const a = styled('a');
    const calls = step('calls', (_: unknown, at: StepActivation) =>
      invoke(a, null, { within: at, with: [options(a, { times: 9 })] }),
    );
    const both = { mark: 'm', times: 1 };
    const within = { at: 'calls/a/a' };
    expect(await invoke(calls, null, { with: [options(a, both, within)] })).toEqual({ mark: 'm', times: 9 });
    const placed = step('placed', (_: unknown, at: StepActivation) =>
      invoke(nested(a, a), null, { within: at, with: [options(a, { times: 9 }, { at: 'second/two' })] }),
    );
    expect(await invoke(placed, null)).toEqual([{}, {}, { times: 9 }]);
  });

  it('hold for a step and for the same step with observers, whichever of them they are given for', async () => {
    const a = styled('a');
    const [one, other] = [observed(a, { end: () => {} }), observed(a, { start: () => {} })];
    for (const given of [a, one, other]) {
      for (const standing of [a, one, other]) {
        expect(await invoke(chain(standing), null, { with: [options(given, { mark: 'z' })] })).toEqual({ mark: 'z' });
      }
    }
  });

  it('for a path that the graph does not have are refused before anything runs, with the path that was meant', async () => {
    let hasRun = false;
    const a = styled('a');
    const first = step('first', () => {
      hasRun = true;
      return {};
    });
    const g = nested(a, first);
    const near = [options(a, {}, { at: 'second/onne' })];
    await expect(invoke(g, null, { with: near })).rejects.toThrow(invalid('Did you mean "second/one"?'));
    expect(hasRun).toBe(false);
  });

  it('for a step that is not in the graph are refused, also when it has the name of one that is', async () => {
    const [a, other] = [styled('a'), styled('a')];
    await expect(invoke(chain(a), null, { with: [options(styled('b'), {})] })).rejects.toThrow(
      invalid('options for "b": this step is not in the graph'),
    );
    await expect(invoke(chain(a), null, { with: [options(other, {})] })).rejects.toThrow(
      invalid('Another step of that name is at "a"'),
    );
  });

  it('for another kind of step are refused, naming both', async () => {
    const model = step('model', () => 1, { kind: 'chatModel' });
    const tools = step('tools', () => 1, { kind: 'toolsNode' });
    const otherModel = step('other', () => 1, { kind: 'chatModel' });
    const both = chain(model, tools);
    await expect(invoke(both, null, { with: [options(model, {}, { at: 'tools' })] })).rejects.toThrow(
      invalid(
        'ptions for "model" (chatModel) at "tools" would go to the step "tools" (toolsNode). "model" stands at "model".',
      ),
    );
    expect(await invoke(both, null, { with: [options(otherModel, {}, { at: 'model' })] })).toBe(1);
    const two = chain(styled('a'), styled('b'));
    await expect(invoke(two, null, { with: [options(styled('c'), {}, { at: 'b' })] })).rejects.toThrow(
      invalid('ptions for "c" (function) at "b" would go to the step "b" (function)'),
    );
    const inner = nested(styled('a'), styled('b'));
    await expect(invoke(inner, null, { with: [options(styled('a'), {}, { at: 'second' })] })).rejects.toThrow(
      invalid('"writer" is a graph, which takes no options'),
    );
    await expect(invoke(inner, null, { with: [options(inner as never, {} as never)] })).rejects.toThrow(
      invalid('is a graph, which takes no options'),
    );
  });

  describe('inside a step of code', () => {
    const said: string[] = [];
    const note = ({ name, message }: Error) => name === 'OptionsWarning' && said.push(message);
    const warnings = async (program: unknown, at: string, input: unknown = null) => {
      said.length = 0;
      process.on('warning', note);
      await invoke(program as never, input as never, { with: [options(inner, { mark: '!' }, { at })] });
      // Warnings come in the next turn.
      await turns(2);
      process.off('warning', note);
      return [...said];
    };
    const inner = styled('inner');
    const outer = step('outer', async (input: unknown, at: StepActivation) =>
      input === 'none' ? 0 : invoke(chain(inner, styled('other')), null, { within: at }),
    );
    const around = chain(step('first', outer), outer);

    it('warn at the end when steps ran there, but none at their path', async () => {
      expect(await warnings(around, 'outer/chian/inner')).toEqual([
        'There were options for "inner" at "outer/chian/inner", but no step ran there. Did you mean "outer/chain/inner"? Steps ran at outer/chain, outer/chain/inner, outer/chain/other.',
      ]);
      expect(await warnings(map(outer), 'map/outer/inner', [1, 2])).toHaveLength(1);
    });

    it('say nothing when a step ran there, or none ran inside', async () => {
      expect(await warnings(around, 'outer/chain/inner')).toEqual([]);
      expect(await warnings(outer, 'outer/inner', 'none')).toEqual([]);
    });
  });

  it('refuses what is no step, no object and no path, when they are made', () => {
    expect(() => options('a' as never, {} as never)).toThrow(
      invalid('options: "step" must be a step or a function; received "a".'),
    );
    expect(() => options(styled('a'), 1 as never)).toThrow(invalid('received 1'));
    expect(() => options(styled('a'), {}, { at: '' })).toThrow(invalid('"at" is a path'));
    expect(() => options(styled('a'), {}, { path: 'a' } as never)).toThrow(
      invalid('options for "a": there is no option "path". The options are at.'),
    );
    expect(() => run(styled('a'), { input: 1 }, { with: [{ mark: '!' } as never] })).toThrow(
      invalid('what options(step, …) gives'),
    );
    const one = options(styled('a'), { mark: '!' });
    expect(() => run(styled('a'), { input: 1 }, { with: one as never })).toThrow(
      invalid('run: "with" must be a list of what options(step, …) gives; received an object'),
    );
  });
});
