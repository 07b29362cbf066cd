const GROUPED = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const LEADING_ZERO = /^[+-]?0\d/;
/** Digits that a number of a spreadsheet keeps. */
const MAX_DIGITS = 15;

/**
 * The value of a spreadsheet cell that reads `text`: a number for `12`, `-1.5e3` and `1,234.5`, else the text. Digits that
 * begin with zero and those that a number cannot hold are texts, because they are names: of an account, of an article.
 */
export function cellValue(text: string): string | number {
  if (LEADING_ZERO.test(text)) return text;
  const digits = GROUPED.test(text) ? text.replaceAll(',', '') : text;
  if (!NUMBER.test(digits)) return text;
  const value = Number(digits);
  const significant = digits.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  return Number.isFinite(value) && significant.length <= MAX_DIGITS ? value : text;
}
