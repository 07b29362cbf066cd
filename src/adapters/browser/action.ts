/** What can be asked of a page. */
import { z } from 'zod';

const ref = z.string().min(1).max(40).describe('Reference of the element in the snapshot, such as "e12".');

/** Actions by name; each shape is also the schema that a model gets. */
export const BROWSER_ACTIONS = {
  open: z.object({ url: z.string().describe('Address, http or https.') }).describe('Opens an address.'),
  click: z
    .object({ ref, double: z.boolean().optional().describe('Clicks twice.') })
    .describe('Clicks an element: links, buttons, check boxes.'),
  hover: z.object({ ref }).describe('Puts the pointer over an element, for what only shows then.'),
  type: z
    .object({
      ref,
      text: z.string().max(100_000).describe('The new content of the field.'),
      submit: z.boolean().optional().describe('Presses Enter afterwards.'),
    })
    .describe('Fills a text field in place of what it holds.'),
  select: z
    .object({ ref, values: z.array(z.string()).max(100).describe('Labels or values.') })
    .describe('Chooses options of a list.'),
  press: z
    .object({ key: z.string().min(1).max(40).describe('Such as "Enter", "Escape", "ArrowDown" or "Control+a".') })
    .describe('Presses a key.'),
  scroll: z
    .object({
      direction: z.enum(['up', 'down']).optional().describe('By one screen; default "down".'),
      ref: ref.optional().describe('Scrolls until this element is in view instead.'),
    })
    .describe('Scrolls. The snapshot shows the whole page, so this only makes pages load more.'),
  wait: z
    .object({
      seconds: z.number().min(0).max(30).optional().describe('Default 2.'),
      text: z.string().min(1).max(1_000).optional().describe('Waits until this text shows, for as long at most.'),
    })
    .describe('Waits.'),
  back: z.object({}).describe('Goes back to the page before.'),
  upload: z
    .object({ ref, files: z.array(z.string()).min(1).max(100).describe('Names of given files.') })
    .describe('Puts given files into a file field, or into the one that a click on the element opens.'),
  screenshot: z
    .object({ full_page: z.boolean().optional().describe('The whole page, not only what is in view.') })
    .describe('Takes a picture of the page; it is kept as a file.'),
} as const;

/** Name of an action. */
export type BrowserActionName = keyof typeof BROWSER_ACTIONS;

/** One action with what it needs. */
export type BrowserAction = {
  [K in BrowserActionName]: { readonly action: K } & z.output<(typeof BROWSER_ACTIONS)[K]>;
}[BrowserActionName];

/** What came of an action. A failed action leaves the page usable: the caller may try another one. */
export interface ActionOutcome {
  readonly isDone: boolean;
  /** One sentence. */
  readonly text: string;
  /** A PNG, of a screenshot. */
  readonly image?: Uint8Array;
}

/** The current state of the page, from which the caller chooses the next action. */
export interface PageView {
  readonly url: string;
  readonly title: string;
  /** Open tabs; the page is the newest. */
  readonly tabs: number;
  /** The accessibility tree with references, as text. They are valid until the next read. */
  readonly snapshot: string;
  /** What happened since the last read: dialogs, downloads, addresses that were refused. */
  readonly notes: readonly string[];
}
