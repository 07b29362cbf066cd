const CITATION = `Cite your sources. Each passage you were given has an ID. Behind a sentence that rests on a passage, before its final punctuation
mark, write [ID:n] with the passage's ID as n, for example: The bridge opened in 1932 [ID:17].
- Several passages: [ID:17][ID:4], at most four in one sentence.
- Only IDs that you were given; never make one up.
- No citation for general knowledge, greetings, your own reasoning or questions.`;

/** Asks for citations of the passages found earlier; goes behind the system prompt. `guidelines` of the author stand in for our own. */
export function citationPrompt(guidelines: string | undefined): string {
  return guidelines === undefined || guidelines === '' ? CITATION : guidelines;
}
