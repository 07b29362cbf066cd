/** What the headings of a document look like: families of patterns, one pattern for each level, run in linear time. */
import { EngineError } from '../../errors.js';
import { invalidOption, requireList } from '../../operators/invalid-option.js';

/** Whether a line begins with a heading of one level. */
export type IsHeading = (line: string) => boolean;

/** One way to write headings: its levels, from the outermost. */
export type HeadingFamily = readonly IsHeading[];

/** Families unless said otherwise, as RAGFlow's title chunkers have them: Markdown, Chinese laws, numbers, Chinese books, English books. */
export const HEADING_LEVELS: readonly (readonly string[])[] = [
  ['^#[^#]', '^##[^#]', '^###[^#]', '^####[^#]'],
  [
    '第[零一二三四五六七八九十百0-9]+(分?编|部分)',
    '第[零一二三四五六七八九十百0-9]+章',
    '第[零一二三四五六七八九十百0-9]+节',
    '第[零一二三四五六七八九十百0-9]+条',
    '[\\(（][零一二三四五六七八九十百]+[\\)）]',
  ],
  [
    '第[0-9]+章',
    '第[0-9]+节',
    '[0-9]{1,2}[\\. 、]',
    '[0-9]{1,2}\\.[0-9]{1,2}($|[^a-zA-Z/%~.-])',
    '[0-9]{1,2}\\.[0-9]{1,2}\\.[0-9]{1,2}',
  ],
  [
    '第[零一二三四五六七八九十百0-9]+章',
    '第[零一二三四五六七八九十百0-9]+节',
    '[零一二三四五六七八九十百]+[ 、]',
    '[\\(（][零一二三四五六七八九十百]+[\\)）]',
    '[\\(（][0-9]{0,2}[\\)）]',
  ],
  [
    'PART (ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN)',
    'Chapter (I+V?|VI*|XI|IX|X)',
    'Section [0-9]+',
    'Article [0-9]+',
  ],
];

/** Units of one pattern, families, and levels of each. */
const MAX_PATTERN = 1_000;
const MAX_FAMILIES = 32;
const MAX_LEVELS = 16;

/**
 * Compiles patterns of headings. They come from documents and users and never run in JavaScript's own engine, which some patterns keep busy for ever:
 * `re2js` takes time that is linear in the line. Its syntax is that of RE2, without references and look-around; `{,n}` is read as `{0,n}`.
 *
 * @throws EngineError OPTION_INVALID for a pattern that cannot be read, and for too many or too long ones.
 */
export async function compileHeadings(
  levels: readonly (readonly string[])[] = HEADING_LEVELS,
): Promise<HeadingFamily[]> {
  requireList('headings', 'levels', levels, 'a list of lists of patterns');
  for (const family of levels) requireList('headings', 'levels', family, 'lists of patterns');
  if (levels.length > MAX_FAMILIES || levels.some((family) => family.length > MAX_LEVELS)) {
    throw invalidOption(
      'headings',
      'levels',
      `at most ${MAX_FAMILIES} families of ${MAX_LEVELS} patterns`,
      levels.length,
    );
  }
  const { RE2JS } = await import('./re2js-library.js');
  return levels.map((family) =>
    family.map((pattern) => {
      if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN) {
        throw invalidOption('headings', 'levels', `made of patterns of at most ${MAX_PATTERN} characters`, pattern);
      }
      try {
        const compiled = RE2JS.compile(pattern.replaceAll('{,', '{0,'));
        return (line: string) => compiled.matcher(line).lookingAt();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new EngineError(
          'OPTION_INVALID',
          `headings: the pattern ${JSON.stringify(pattern)} cannot be read: ${message}. Write it in the syntax of RE2: without references and look-around.`,
          { cause: error },
        );
      }
    }),
  );
}
