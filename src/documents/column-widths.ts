/** How wide the text of a column is: its longest word, and its longest line. */
export interface ColumnNeed {
  readonly word: number;
  readonly line: number;
}

/**
 * Divides `available` between the columns of a table as browsers do: every column gets its longest line if all fit;
 * otherwise its longest word, and of the rest as much as its lines ask for. When not even the words fit, all shrink alike.
 */
export function columnWidths(needs: readonly ColumnNeed[], available: number): number[] {
  const total = (key: keyof ColumnNeed) => needs.reduce((sum, need) => sum + need[key], 0);
  const words = total('word');
  const lines = total('line');
  if (lines <= available) return needs.map(({ line }) => line);
  if (words >= available) return needs.map(({ word }) => (word / words) * available);
  const share = (available - words) / (lines - words);
  return needs.map(({ word, line }) => word + (line - word) * share);
}
