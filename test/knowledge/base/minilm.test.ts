import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  loadMiniLm,
  MINILM_PACKAGES,
  type MiniLmPackages,
} from '../../../src/knowledge/base/minilm/minilm-packages.js';
import { type MiniLm, openMiniLm } from '../../../src/knowledge/base/minilm/open-minilm.js';

const urlOf = (name: string): string => new URL(`./support/fake-minilm/${name}`, import.meta.url).href;
const FAKE: MiniLmPackages = { engine: urlOf('engine.mjs'), weights: urlOf('weights.mjs') };

async function open(packages = FAKE): Promise<MiniLm> {
  const opened = await openMiniLm({ packages });
  if (opened === undefined) throw new Error('MiniLM was not found.');
  onTestFinished(() => opened.close());
  return opened;
}

describe('MiniLM in threads of this process', () => {
  it('is not there where its packages are not', async () => {
    expect(await openMiniLm({ packages: { ...FAKE, weights: 'no-such-package-of-weights' } })).toBeUndefined();
  });

  it('makes one vector for each text, in order, with one model for all', async () => {
    const { name, questions } = await open();
    expect(name).toBe('fake@local');
    expect(await questions.embed([])).toEqual([]);
    const [one, two] = await Promise.all([questions.embed(['a', 'bcd']), questions.embed(['ef'])]);
    expect(one.map(([length]) => length)).toEqual([1, 3]);
    expect(two.map(([length]) => length)).toEqual([2]);
    expect((await questions.embed(['g']))[0]?.[1]).toBe(3);
  });

  it.runIf(existsSync('/proc/thread-self'))(
    'lets other work go before passages, and not before questions',
    async () => {
      const { questions, passages } = await open();
      const priorityOf = async ({ embed }: MiniLm['questions']) => (await embed(['a']))[0]?.[2];
      expect(await priorityOf({ embed: (texts) => questions.embed(texts) })).toBe(getPriority());
      expect(await priorityOf({ embed: (texts) => passages.embed(texts) })).toBe(19);
    },
  );

  it('says why there is no vector, and makes the next one', async () => {
    const { questions } = await open();
    const broken = { code: 'MODEL_UNAVAILABLE', message: expect.stringContaining('the engine broke') };
    await expect(questions.embed(['broken'])).rejects.toMatchObject(broken);
    await expect(questions.embed(['crash'])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect((await questions.embed(['ab']))[0]).toEqual([2, 0, expect.any(Number)]);
  });

  it('passes over texts that are not wanted any more', async () => {
    const { questions } = await open();
    const stop = new AbortController();
    const first = questions.embed(['a']);
    const late = questions.embed(['b'], { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(late).rejects.toThrow('enough');
    await first;
    expect((await questions.embed(['c']))[0]?.[1]).toBe(1);
  });

  it('refuses texts once it is closed', async () => {
    const { passages, close } = await open();
    await close();
    await expect(passages.embed(['a'])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  });
});

const isInstalled = (await loadMiniLm(MINILM_PACKAGES)) !== undefined;
const real = `MiniLM from its packages${isInstalled ? '' : ' (not installed here, as they bring 48 MB)'}`;

describe.runIf(isInstalled)(real, () => {
  it('puts what means the same near to each other', { timeout: 120_000 }, async () => {
    const { name, questions } = await open(MINILM_PACKAGES);
    expect(name).toBe('minilm-l6-v2@local');
    const texts = ['A cat sits on the mat.', 'The kitten rests on a rug.', 'Interest rates rose again.'];
    const [cat = [], kitten = [], rates = []] = await questions.embed(texts);
    const cosine = (other: number[]) => cat.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
    expect(cat).toHaveLength(384);
    expect(cosine(cat)).toBeCloseTo(1, 4);
    expect(cosine(kitten)).toBeGreaterThan(0.4);
    expect(cosine(rates)).toBeLessThan(0.2);
  });
});
