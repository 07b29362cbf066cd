/**
 * English words that say nothing about the subject of a text: articles, pronouns, prepositions, forms of "to be", "to have" and "to do", and
 * words that begin questions. As the splitter gives them: lower case, without apostrophes.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my
  no not of on or our should so such than that the their them then there these they this those to was we were
  what when where which who whom why will with would you your`.split(/\s+/),
);

/** Letters of Chinese words that ask or join. */
const ASKING_LETTERS = /[的了吗呢吧啊呀嘛么是哪怎谁什]/u;
const ASKING_WORDS: ReadonlySet<string> = new Set(
  `如何 为何 多少 几个 意思 时候 请问 可以 应该 能否 没有 有 用 在 要 会 能 我 你 他 它 这 那 个 和 与 或 及 从 到 对 把 被 让 给
  为 以 于 其 之 就 都 也 还 又 很 更 最 不 没 各 占`.split(/\s+/),
);

/** Whether a word of a Chinese question says nothing about its subject. Indexes hold such words all the same. */
export function isAskingTerm(term: string): boolean {
  return ASKING_LETTERS.test(term) || ASKING_WORDS.has(term);
}
