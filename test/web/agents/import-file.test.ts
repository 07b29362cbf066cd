import { expect, it } from 'vitest';
import { documentIn, previewHere, textsIn, titleFor, valueIn } from '../../../web/agents/import-file.js';

const file = (text: string, name = 'my_agent.json') => ({ id: '1', name, text });

const BEGIN = { obj: { component_name: 'Begin', params: {} }, downstream: ['X:A'] };
const dsl = { components: { begin: BEGIN, 'X:A': { obj: { component_name: 'NeverHeardOf', params: {} } } } };

it('says what a document is made of, and what is not known', async () => {
  expect(await previewHere(file(JSON.stringify(dsl)))).toMatchObject({
    valid: true,
    kind: 'agent',
    version: 1,
    components: 2,
    types: { Begin: 1, NeverHeardOf: 1 },
    unknown_types: ['NeverHeardOf'],
  });
});

it('says why a text is no document', async () => {
  const preview = await previewHere(file('{"components": '));
  expect(preview).toMatchObject({ valid: false, kind: null, version: null, components: 0 });
  expect(preview.issues[0]).toMatchObject({ severity: 'error', path: '$' });
});

it('finds the document and the texts of a template file', () => {
  const value = valueIn(file(JSON.stringify({ title: { en: 'Trips', zh: '旅行' }, description: 'Plans', dsl })));
  expect(documentIn(value)).toEqual(dsl);
  expect(textsIn(value, 'zh')).toEqual({ title: '旅行', description: 'Plans' });
  expect(textsIn(value, 'de').title).toBe('Trips');
  expect(documentIn(valueIn(file('[1]')))).toEqual([1]);
  expect(valueIn(file('nothing'))).toBeUndefined();
});

it('takes a title from the file, else from its name', () => {
  expect(titleFor(file(''), { title: { en: 'Trips' } }, 'en', 'x')).toBe('Trips');
  expect(titleFor(file(''), {}, 'en', 'x')).toBe('my agent');
  expect(titleFor(file('', ''), {}, 'en', 'x')).toBe('x');
});
