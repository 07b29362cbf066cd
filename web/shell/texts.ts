/** What the page says, in English and Chinese. A text that one language lacks is an error of types. */
import type { Language } from './preferences.js';
import { useChoices } from './studio.js';

/** The same texts in each language: sentences, and functions that make them. */
export type Texts<T> = Readonly<Record<Language, T>>;

/** Declares the texts of a page or part: `texts.ts` beside it. The English ones say which there are. */
export function defineTexts<T>(texts: { readonly en: T; readonly zh: NoInfer<T> }): Texts<T> {
  return texts;
}

/** Texts in the user's language. */
export function useTexts<T>(texts: Texts<T>): T {
  return texts[useChoices().language];
}
