/** On which page a source says it, and on which pages it stands, for people and models; empty when that is not known. */
export function pageLabel({
  page,
  pages = [],
}: {
  readonly page?: number | undefined;
  readonly pages?: readonly number[] | undefined;
}): string {
  const [first = page, last = first] = [pages[0], pages.at(-1)];
  if (first === undefined) return '';
  if (first === last) return `page ${first}`;
  const all = `pages ${first} to ${last}`;
  return page === undefined ? all : `page ${page} (the passage: ${all})`;
}
