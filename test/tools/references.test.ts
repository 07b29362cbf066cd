import { describe, expect, it } from 'vitest';
import { displayIdOf, mergeReferences, passageIdOf, readReferences, referencesOf } from '../../src/tools/results.js';

describe('ids of passages', () => {
  it.each([
    ['hello world', '25751533', 428],
    ['RAG engine', '97299277', 21],
    ['alpha', '23115599', 80],
    ['beta', '41102437', 475],
    ['Paris is the capital of France.', '73289898', 429],
  ])('%s', (content, id, shown) => {
    expect(passageIdOf(content)).toBe(id);
    expect(displayIdOf(id)).toBe(shown);
  });
});

describe('referencesOf', () => {
  it('leaves out what has no text, and images in it', () => {
    const image = '![image](data:image/png;base64,AAAA)';
    const { text, references } = referencesOf([{ content: '' }, { content: image }, { content: `seen ${image}` }]);
    expect(Object.values(references.chunks).map(({ content }) => content)).toEqual(['seen ']);
    expect(text).toBe(`\nID: ${displayIdOf(passageIdOf('seen '))}\n└── Content:\nseen `);
  });

  it('shows title, address and what else is known, each on one line', () => {
    const { text } = referencesOf([
      { content: 'alpha', title: 'A\nB', url: 'https://a.example', metadata: { year: 2020, who: 'x' } },
    ]);
    expect(text).toBe(
      '\nID: 80\n├── Title: A B\n├── URL: https://a.example\n├── year: 2020\n├── who: x\n└── Content:\nalpha',
    );
  });

  it('cuts at ten thousand characters and halves none', () => {
    const { references } = referencesOf([{ content: '😀'.repeat(10_001) }]);
    const [chunk] = Object.values(references.chunks);
    expect(Array.from(String(chunk?.content))).toHaveLength(10_000);
    expect(String(chunk?.content).endsWith('😀')).toBe(true);
  });

  it('stops behind the passage that fills the model, and still lists the others', () => {
    const passages = Array.from({ length: 80 }, (_, index) => ({ content: `${index}${'字'.repeat(9_000)}` }));
    const { text, references } = referencesOf(passages);
    expect(text.split('└── Content:').length - 1).toBe(22);
    expect(Object.values(references.doc_aggs)[0]).toMatchObject({ count: 80 });
  });

  it('counts the passages of a document', () => {
    const { references } = referencesOf([
      { content: 'alpha', title: 'T', documentId: 'd' },
      { content: 'beta', title: 'T', documentId: 'd' },
    ]);
    expect(references.doc_aggs).toEqual({ T: { doc_name: 'T', doc_id: 'd', count: 2, url: null } });
  });

  it('takes a title that is a name of Object for a title', () => {
    const { references } = referencesOf([
      { content: 'alpha', title: '__proto__' },
      { content: 'b', title: 'constructor' },
    ]);
    expect(Object.keys(references.doc_aggs).sort()).toEqual(['__proto__', 'constructor']);
  });
});

describe('mergeReferences', () => {
  it('adds, and counts documents together', () => {
    const first = referencesOf([{ content: 'alpha', title: 'T' }]).references;
    const second = referencesOf([{ content: 'beta', title: 'T' }]).references;
    const both = mergeReferences(first, readReferences(JSON.parse(JSON.stringify(second))));
    expect(Object.keys(both.chunks).sort()).toEqual(['475', '80']);
    expect(both.doc_aggs.T).toMatchObject({ count: 2 });
  });
});
