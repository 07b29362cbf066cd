import { describe, expect, it } from 'vitest';
import { sqlResult } from '../../../src/tools/exe-sql.js';

describe('a statement without rows to show', () => {
  it.each([
    ['found nothing', false, 'No record in the database!'],
    ['found rows that are too large', true, expect.stringContaining('too large')],
  ])('%s', (_, isCut, content) => {
    expect(sqlResult([{ table: { columns: ['a'], rows: [], isCut } }]).outputs.json).toEqual([{ content }]);
  });
});
