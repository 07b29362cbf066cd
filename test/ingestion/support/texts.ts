/** Documents of processes that are killed. */

/** How many there are together. */
export const MANY = 12;

/** A text of so many sentences; those of the document `long.txt` have no name in them. */
export function textOf(name: string, sentences: number): string {
  const of = name === 'long.txt' ? 'them' : name;
  return Array.from({ length: sentences }, (_, at) => `Sentence ${at} of ${of}.`).join('\n');
}
