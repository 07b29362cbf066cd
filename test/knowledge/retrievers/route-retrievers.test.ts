import { describe, expect, it } from 'vitest';
import { routeRetrievers } from '../../../src/knowledge/retrievers/route-retrievers.js';
import { answering, found, ids, saying, waiting } from './support.js';

const three = () => {
  const laws = answering({ q: ['a', 'b'] });
  const news = answering({ q: ['b', 'c'] });
  const mail = answering({ q: ['d'] });
  return { laws, news, mail, retrievers: { laws: laws.retriever, news: news.retriever, mail: mail.retriever } };
};

describe('routing among retrievers', () => {
  it('asks those that the rule names, and fuses by reciprocal rank', async () => {
    const { retrievers, mail } = three();
    const retrieve = routeRetrievers({ retrievers, route: () => ['laws', 'news'] });
    expect(ids(await retrieve('q'))).toEqual(['b', 'a', 'c']);
    expect(mail.asked).toEqual([]);
    expect([retrieve.stepName, retrieve.stepKind]).toEqual(['routeRetrievers', 'retriever']);
  });

  it('asks all without a rule', async () => {
    const { retrievers } = three();
    expect(ids(await routeRetrievers({ retrievers })('q'))).toEqual(['b', 'a', 'd', 'c']);
  });

  it('tells the rule the names, and asks a retriever that is named twice once', async () => {
    const { retrievers, laws } = three();
    const told: unknown[] = [];
    const route = async (query: string, { names }: { readonly names: readonly string[] }) => {
      told.push(query, names);
      return ['laws', 'laws'];
    };
    await routeRetrievers({ retrievers, route })('q');
    expect(told).toEqual(['q', ['laws', 'news', 'mail']]);
    expect(laws.asked).toEqual(['q']);
  });

  it('finds nothing when the rule names none', async () => {
    const { retrievers, laws } = three();
    expect(await routeRetrievers({ retrievers, route: () => [] })('q')).toEqual([]);
    expect(laws.asked).toEqual([]);
  });

  it.each(['nobody', 'constructor'])('refuses the made-up name "%s" before it searches', async (name) => {
    const { retrievers, laws } = three();
    const retrieve = routeRetrievers({ retrievers, route: () => ['laws', name] });
    await expect(retrieve('q')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `"routeRetrievers" has no retriever "${name}". There are: laws, news, mail.`,
    });
    expect(laws.asked).toEqual([]);
  });

  it('joins by a rule of ones own, which is told the names', async () => {
    const { retrievers } = three();
    const retrieve = routeRetrievers({
      retrievers,
      fuse: (lists) => found(...lists.map(({ name }) => name)),
      limit: 2,
    });
    expect(ids(await retrieve('q'))).toEqual(['laws', 'news']);
  });

  it('passes the options of the call to every search', async () => {
    const { retrievers, laws, mail } = three();
    await routeRetrievers({ retrievers })('q', { topK: 2 });
    expect([laws.options[0]?.topK, mail.options[0]?.topK]).toEqual([2, 2]);
  });

  it('fails with the first failure and ends the other searches', async () => {
    const { retriever, stopped } = waiting();
    const retrieve = routeRetrievers({
      retrievers: {
        slow: retriever,
        bad: async () => {
          throw new Error('down');
        },
      },
    });
    await expect(retrieve('q')).rejects.toThrow('down');
    expect(stopped).toEqual(['q']);
  });

  it.each([{ retrievers: {} }, { concurrency: 0 }, { limit: 0 }, { route: {} as never }])('refuses %o', (options) => {
    const build = () => routeRetrievers({ retrievers: three().retrievers, ...options });
    expect(build).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('routing by a model', () => {
  const about = { laws: 'laws of the country', news: 'what happened' };

  it('asks those that the model names, in any case and order', async () => {
    const { retrievers, mail } = three();
    const { asked, requests } = saying('- News\n- laws\n- weather');
    expect(ids(await routeRetrievers({ retrievers, route: { ...asked, about } })('q'))).toEqual(['b', 'a', 'c']);
    expect(mail.asked).toEqual([]);
    const [system] = requests[0]?.messages ?? [];
    expect(system?.content).toContain('- laws: laws of the country\n- news: what happened\n- mail: no description');
  });

  it('asks all when the model names none', async () => {
    const { retrievers } = three();
    const retrieve = routeRetrievers({ retrievers, route: { ...saying('I do not know.').asked, about } });
    expect(await retrieve('q')).toHaveLength(4);
  });

  it('refuses a description of a retriever that is not there', () => {
    const { retrievers } = three();
    const build = () => routeRetrievers({ retrievers, route: { ...saying('').asked, about: { weather: 'x' } } });
    expect(build).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
