/**
 * English words that say nothing about the subject of a text: articles, pronouns, prepositions, forms of "to be", "to have" and "to do", and
 * words that begin questions. As the splitter gives them: lower case, without apostrophes.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my
  no not of on or our should so such than that the their them then there these they this those to was we were
  what when where which who whom why will with would you your`.split(/\s+/),
);
