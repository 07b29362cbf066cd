import { htmlToText } from '../../documents/reading/html-to-text.js';
import { EngineError } from '../../errors.js';

/** Most markup of a page that is looked at: what a parser may take for nested elements costs the square of their number. */
const MAX_MARKS = 50_000;

/** The readable part of a web page. */
export interface CleanPage {
  readonly text: string;
  /** The page had more markup than is looked at, and ends early. */
  readonly isCut: boolean;
}

/**
 * The text of a page without scripts, styles, comments and tags; headings, lists and tables as Markdown.
 *
 * Errors: those of `htmlToText`; `NODE_FAILED` for elements nested deeper than the stack.
 */
export async function cleanPage(html: string): Promise<CleanPage> {
  const end = endOfMarks(html);
  try {
    return { text: await htmlToText(html.slice(0, end), 'answer of the server'), isCut: end < html.length };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new EngineError('NODE_FAILED', 'The page is nested too deeply to be cleaned; set clean_html to false.');
  }
}

/** Where the first mark too many begins. */
function endOfMarks(html: string): number {
  let marks = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    marks += 1;
    if (marks > MAX_MARKS) return at;
  }
  return html.length;
}
