import { cutText } from './characters.js';

/** Longest name of a sheet that Excel opens. */
const MAX_LENGTH = 31;

/**
 * Names for sheets, each once and such that Excel opens them: at most 31 characters, slashes as `_`, without `* ? [ ] :`;
 * a name that is taken gets `_1`, `_2` … Without a title, or with one of which nothing is left, it is `Table_<n>`.
 */
export function sheetNames(titles: readonly (string | undefined)[]): string[] {
  const taken = new Set<string>();
  return titles.map((title, index) => {
    const wanted = clean(title ?? '') || `Table_${index + 1}`;
    let name = wanted;
    for (let count = 1; taken.has(name.toLowerCase()); count += 1) {
      const ending = `_${count}`;
      name = cutText(wanted, MAX_LENGTH - ending.length) + ending;
    }
    taken.add(name.toLowerCase());
    return name;
  });
}

function clean(title: string): string {
  const name = cutText(
    title
      .replace(/[/\\]/g, '_')
      .replace(/[*?[\]:]/g, '')
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/^'+/, ''),
    MAX_LENGTH,
  ).replace(/['\s]+$/, '');
  // Excel keeps this name for itself.
  return name.toLowerCase() === 'history' ? `${name}_` : name;
}
