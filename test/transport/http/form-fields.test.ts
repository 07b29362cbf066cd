import { expect, it } from 'vitest';
import { FormFields } from '../../../src/transport/http/form-fields.js';

it('gives a field whole whose pieces end within characters', () => {
  const fields = new FormFields(100);
  const take = fields.open('name');
  for (const byte of Buffer.from('表格😀')) take(Buffer.from([byte]));
  expect([...fields.texts()]).toEqual([['name', '表格😀']]);
});

it('takes the last of several fields with one name, and counts all', () => {
  const fields = new FormFields(5);
  fields.open('a')(Buffer.from('one'));
  fields.open('a')(Buffer.from('2'));
  expect([...fields.texts()]).toEqual([['a', '2']]);
  expect(() => fields.open('b')(Buffer.from('xx'))).toThrow('more than 5 bytes');
});
