import { describe, expect, it } from 'vitest';
import { reciprocalRank } from '../../../src/knowledge/retrievers/fuse.js';
import { multiQuery } from '../../../src/knowledge/retrievers/multi-query.js';
import { answering, found, ids, saying, silent, waiting } from './support.js';

describe('a retriever with several queries', () => {
  it('asks the query and its wordings, and gives each document once in their order', async () => {
    const { retriever, asked } = answering({ q: ['a', 'b'], one: ['b', 'c'], two: ['a', 'd'] });
    const retrieve = multiQuery({ retriever, rewrite: () => ['one', 'two'] });
    expect(ids(await retrieve('q'))).toEqual(['a', 'b', 'c', 'd']);
    expect(asked).toEqual(['q', 'one', 'two']);
    expect([retrieve.stepName, retrieve.stepKind]).toEqual(['multiQuery', 'retriever']);
  });

  it('leaves the query itself out where that is wanted', async () => {
    const { retriever, asked } = answering({});
    await multiQuery({ retriever, rewrite: async () => ['one'], includeOriginal: false })('q');
    expect(asked).toEqual(['one']);
  });

  it('asks equal wordings once, and none of white space', async () => {
    const { retriever, asked } = answering({});
    await multiQuery({ retriever, rewrite: () => [' one ', 'one', '', '  ', 'q'] })('q');
    expect(asked).toEqual(['q', 'one']);
  });

  it('asks no more queries than it may, the original one counted in', async () => {
    const { retriever, asked } = answering({});
    await multiQuery({ retriever, rewrite: () => ['1', '2', '3', '4'], maxQueries: 3 })('q');
    expect(asked).toEqual(['q', '1', '2']);
  });

  it('asks the query itself when rewriting gives nothing', async () => {
    const { retriever, asked } = answering({});
    await multiQuery({ retriever, rewrite: () => [], includeOriginal: false })('q');
    expect(asked).toEqual(['q']);
  });

  it('passes the options of the call to every search', async () => {
    const { retriever, options } = answering({});
    await multiQuery({ retriever, rewrite: () => ['one'] })('q', { topK: 3, subIndex: 'x', filter: { a: 1 } });
    for (const call of options) expect(call).toMatchObject({ topK: 3, subIndex: 'x', filter: { a: 1 } });
    expect(options).toHaveLength(2);
  });

  it('joins by a rule of ones own, and gives no more than its limit', async () => {
    const { retriever } = answering({ q: ['a', 'b'], one: ['b'] });
    const retrieve = multiQuery({ retriever, rewrite: () => ['one'], fuse: reciprocalRank(), limit: 1 });
    expect(ids(await retrieve('q'))).toEqual(['b']);
    const own = multiQuery({
      retriever,
      rewrite: () => ['one'],
      fuse: async (lists, query) => found(query, ...lists.map(({ name }) => name)),
    });
    expect(ids(await own('q'))).toEqual(['q', 'q', 'one']);
  });

  it('searches side by side, and no more at once than it may', async () => {
    let running = 0;
    let most = 0;
    const retriever = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return [];
    };
    await multiQuery({ retriever, rewrite: () => ['1', '2', '3'] })('q');
    expect(most).toBe(4);
    most = 0;
    await multiQuery({ retriever, rewrite: () => ['1', '2', '3'], concurrency: 2 })('q');
    expect(most).toBe(2);
  });

  it('fails with the first failure and ends the other searches', async () => {
    const { retriever, stopped } = waiting();
    const broken = multiQuery({
      retriever: async (query, call) => {
        if (query === 'bad') throw new Error('down');
        return await retriever(query, call);
      },
      rewrite: () => ['bad'],
    });
    await expect(broken('q')).rejects.toThrow('down');
    expect(stopped).toEqual(['q']);
  });

  it('ends all searches when it is stopped', async () => {
    const { retriever, stopped } = waiting();
    const controller = new AbortController();
    const rewritten = Promise.resolve(['one']);
    const searching = multiQuery({ retriever, rewrite: () => rewritten })('q', { signal: controller.signal });
    await rewritten;
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('enough'));
    await expect(searching).rejects.toThrow('enough');
    expect(stopped.sort()).toEqual(['one', 'q']);
  });
});

describe('rewriting by a model', () => {
  it('reads the lines of its answer, without the marks of a list', async () => {
    const { asked: model, requests } = saying('1. first one\n2) "second one"\n\n- third one\nfourth (4. part)\n');
    const { retriever, asked } = answering({});
    await multiQuery({ retriever, rewrite: model, includeOriginal: false })('what is it?');
    expect(asked).toEqual(['first one', 'second one', 'third one', 'fourth (4. part)']);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      model: 'm1',
      messages: [{ role: 'system' }, { role: 'user', content: 'what is it?' }],
    });
  });

  it('asks and reads as it is told', async () => {
    const { asked: model, requests } = saying('a;b');
    const { retriever, asked } = answering({});
    const prompt = (query: string) => [{ role: 'user', content: `reword ${query}` } as const];
    await multiQuery({ retriever, rewrite: { ...model, prompt, parse: (answer) => answer.split(';') } })('q');
    expect(asked).toEqual(['q', 'a', 'b']);
    expect(requests[0]?.messages).toEqual([{ role: 'user', content: 'reword q' }]);
  });

  it('refuses an answer that is far too long', async () => {
    const { retriever } = answering({});
    const retrieve = multiQuery({ retriever, rewrite: saying('x'.repeat(70_000)).asked });
    await expect(retrieve('q')).rejects.toMatchObject({ code: 'MODEL_RESPONSE' });
  });

  it('ends the call of the model when it is stopped', async () => {
    const { asked, state } = silent();
    const controller = new AbortController();
    const searching = multiQuery({ retriever: answering({}).retriever, rewrite: asked })('q', {
      signal: controller.signal,
    });
    controller.abort(new Error('enough'));
    await expect(searching).rejects.toThrow('enough');
    expect(state.isStopped).toBe(true);
  });

  it.each([
    { maxQueries: 0 },
    { concurrency: 0 },
    { limit: 0 },
    { rewrite: {} as never },
    { rewrite: undefined as never },
    { retriever: undefined as never },
  ])('refuses %o', (options) => {
    const build = () => multiQuery({ retriever: answering({}).retriever, rewrite: () => [], ...options });
    expect(build).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
