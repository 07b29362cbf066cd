/** What is read from a web page. */

/** Forms in which the content of a page is given: its cleaned HTML, all of it as Markdown, or the text of its article. */
export const PAGE_FORMS = ['html', 'markdown', 'content'] as const;

export interface PageRequest {
  readonly html: string;
  /** Where it came from; links are relative to it. */
  readonly url: string;
  readonly form: (typeof PAGE_FORMS)[number];
}

export interface Page {
  readonly title: string;
  /** All visible text of the page, white space as single spaces. */
  readonly text: string;
  /** Addresses that it links to, in order, each once; 1,000 at most. */
  readonly links: readonly string[];
  /** The page in the form that was wanted. */
  readonly content: string;
  /** The page or its content was longer than the bounds, and was cut. */
  readonly isCut: boolean;
}

/** Characters that are given of a page or a text; about 100,000 tokens. */
export const MAX_PAGE_TEXT = 400_000;
