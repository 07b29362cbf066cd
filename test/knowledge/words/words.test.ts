import { describe, expect, it } from 'vitest';
import { languageOf } from '../../../src/knowledge/words/language.js';
import { STOP_WORDS } from '../../../src/knowledge/words/stop-words.js';
import { openWords } from '../../../src/knowledge/words/words.js';

const words = openWords();
const withoutDictionary = openWords({ segmenter: async () => Promise.reject(new Error('no build for this platform')) });

async function termsOf(text: string, by = words): Promise<readonly string[]> {
  const [analysed] = await by.analyse([text]);
  return analysed?.terms ?? [];
}

describe('words', () => {
  it.each([
    ['stems of English', 'Running quickly over mitochondria', ['run', 'quick', 'over', 'mitochondria']],
    ['no stop words', 'What is the name of this?', ['name']],
    ['no accents and no case', 'Naïve CAFÉ', ['naiv', 'cafe']],
    ['compatibility forms', 'Ｆｕｌｌ ﬁeld ²', ['full', 'field', '2']],
    ['genitives without their ending', "Alzheimer's disease, the dogs’ house", ['alzheim', 'diseas', 'dog', 'hous']],
    ['words with digits as they are', 'IL-6 p53running', ['il', '6', 'p53running']],
    ['pairs of letters of Japanese and Thai', 'カタカナ ไทย', ['カタ', 'タカ', 'カナ', 'ไท', 'ทย']],
    ['words of other scripts as they are', 'Быстрая лиса', ['быстрая', 'лиса']],
  ])('are %s', async (_, text, terms) => {
    expect(await termsOf(text)).toEqual(terms);
  });

  it('of Chinese are those of the dictionary, the shorter ones inside of them, and all pairs', async () => {
    const terms = await termsOf('中华人民共和国');
    expect(terms).toContain('中华人民共和国');
    expect(terms).toContain('共和国');
    expect(terms).toContain('民共');
    expect(terms.filter((term) => term === '人民')).toHaveLength(2);
  });

  it('of Chinese are pairs of letters alone where the dictionary cannot be loaded', async () => {
    expect(await termsOf('数据库 a', withoutDictionary)).toEqual(['数据', '据库']);
    expect(await termsOf('库', withoutDictionary)).toEqual(['库']);
  });

  it('of traditional Chinese are the same as of simplified Chinese', async () => {
    expect(await termsOf('資料庫與檢查點')).toEqual(await termsOf('资料库与检查点'));
  });

  it('have places that ascend, one for each word or letter', async () => {
    const [analysed] = await words.analyse(['alpha 数据库 beta']);
    const { terms = [], places = [] } = analysed ?? {};
    expect(places).toHaveLength(terms.length);
    expect([...places].sort((left, right) => left - right)).toEqual(places);
    expect(places[terms.indexOf('beta')]).toBe(5);
    expect(places[terms.indexOf('据库')]).toBe(2);
  });

  it('keep the forms before stems, with the term of each', async () => {
    const [analysed] = await words.analyse(['running dogs 数据']);
    expect(analysed?.forms).toEqual(['running', 'dogs']);
    expect(analysed?.formTerms).toEqual(['run', 'dog']);
  });

  it('do not depend on texts that were analysed before', async () => {
    const fresh = openWords();
    const text = '检查点 checkpoint';
    await fresh.analyse(['plain English']);
    expect(await fresh.analyse([text])).toEqual(
      await openWords()
        .analyse(['数据', text])
        .then((all) => all.slice(1)),
    );
  });

  it('are cut to 64 characters, and a text of one long word takes no longer than others', async () => {
    expect(await termsOf('x'.repeat(100_000))).toEqual(['x'.repeat(64)]);
  });

  it('leave out about sixty stop words', () => {
    expect(STOP_WORDS.size).toBeGreaterThan(55);
    expect(STOP_WORDS.size).toBeLessThan(90);
  });
});

describe('the language of a text', () => {
  it.each([
    ['The index of a dataset is kept in segments, which are merged in the background.', 'en'],
    ['Retry policy', 'en'],
    [
      'Das Verzeichnis wird in Abschnitten gehalten, die im Hintergrund vereinigt werden, bis alles fertig ist.',
      'other',
    ],
    ['检查点的格式是什么', 'zh'],
    ['StreamChatPipeline 有几个阶段', 'zh'],
    ['チェックポイントの形式は何ですか', 'ja'],
    ['체크포인트 형식', 'ko'],
    ['1234 !!', 'other'],
    ['Быстрая лиса', 'other'],
  ])('of %j is %s', (text, language) => {
    expect(languageOf(text)).toBe(language);
  });
});
