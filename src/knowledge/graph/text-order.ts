/** The order of texts by their UTF-16 units, which is the same everywhere: for sorting. */
export function compareTexts(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
