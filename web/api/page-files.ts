/** The files of the page that come when they are needed, and what is the matter when one does not. */

/** Why a file did not come: no answer from the server; the server has the files of another version; anything else. */
export type MissingReason = 'unreachable' | 'earlier-version' | 'unknown';

/** A part of the page, or why it is not there. */
export type LoadedPart<T> =
  | { readonly part: T; readonly missing?: undefined }
  | { readonly part?: undefined; readonly missing: MissingReason; readonly error: unknown };

/** How long the server is waited for when it is asked for the page itself. */
const PATIENCE_MS = 10_000;

/** The owner of what the page knows of its files; made once, in `main.tsx`. */
export class PageFiles {
  readonly #document: Document;
  /** Stylesheets that did not come. Who asks for their part again asks for its script alone. */
  readonly #failedStyles = new Set<HTMLLinkElement>();

  constructor(document: Document) {
    this.#document = document;
    const note = ({ target }: Event): void => {
      if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') this.#failedStyles.add(target);
    };
    document.addEventListener('error', note, { capture: true });
  }

  /** Loads a part; its failure is a value. What failed before may be loaded again. */
  async load<T>(load: () => Promise<T>): Promise<LoadedPart<T>> {
    try {
      await Promise.all([...this.#failedStyles].map((link) => this.#loadStyle(link)));
      return { part: await load() };
    } catch (error) {
      return { missing: await this.#reason(), error };
    }
  }

  async #loadStyle(failed: HTMLLinkElement): Promise<void> {
    this.#failedStyles.delete(failed);
    const link = failed.cloneNode() as HTMLLinkElement;
    await new Promise<void>((resolve, reject) => {
      link.addEventListener('load', () => resolve());
      link.addEventListener('error', () => reject(new Error(`The stylesheet ${link.href} cannot be loaded.`)));
      failed.replaceWith(link);
    });
  }

  /** The page of another version begins with a file of another name. */
  async #reason(): Promise<MissingReason> {
    const begin = this.#document.querySelector('script[type="module"][src]')?.getAttribute('src') ?? '';
    try {
      const answer = await fetch(new URL('.', this.#document.baseURI), {
        headers: { accept: 'text/html' },
        cache: 'no-store',
        credentials: 'omit',
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      // What stands before the server answers in its place while that is away.
      if (!answer.ok) return 'unreachable';
      return (await answer.text()).includes(begin) ? 'unknown' : 'earlier-version';
    } catch {
      return 'unreachable';
    }
  }
}
