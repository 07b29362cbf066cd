import { expect, it } from 'vitest';
import { excerpt } from '../../src/cli/excerpt.js';

const FILLER = 'Look at the casing and note what you find. '.repeat(30);

it.each([
  ['A short  text\nof two lines.', 'lines', 'A short text of two lines.'],
  [
    `${FILLER}The impeller is replaced every year. ${FILLER}`,
    'When is the impeller replaced?',
    /^… The impeller is replaced every year\. Look .* …$/,
  ],
  [`${'检查泵壳。'.repeat(60)}轴承每年加注润滑脂。`, '轴承多久加一次润滑脂？', /^… 轴承每年加注润滑脂。$/],
  [FILLER, 'nothing of it', /^Look at the casing .* …$/],
  [FILLER, '', /^Look at the casing .* …$/],
])('shows of %j what is asked by %j', (text, question, expected) => {
  const shown = excerpt(text, question, 100);
  if (typeof expected === 'string') expect(shown).toBe(expected);
  else expect(shown).toMatch(expected);
  expect(shown.length).toBeLessThanOrEqual(104);
});
