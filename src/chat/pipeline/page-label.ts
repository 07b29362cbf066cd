/** On which pages a source stands, for people and models; empty when that is not known. */
export function pageLabel({
  page,
  pages = [],
}: {
  readonly page?: number | undefined;
  readonly pages?: readonly number[] | undefined;
}): string {
  const [first = page, last = first] = [pages[0], pages.at(-1)];
  if (first === undefined) return '';
  return first === last ? `page ${first}` : `pages ${first} to ${last}`;
}
