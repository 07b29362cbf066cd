/** Most notes between two looks, and the longest of them in characters. */
const MAX_NOTES = 20;
const MAX_LENGTH = 300;

/** Most names of hosts that are remembered; the oldest goes first. */
const MAX_HOSTS = 1_000;

/** Things that happened to a page, each once, until somebody looks. */
export interface Notes {
  /** Notes what happened; of a host, only if a page asks for it before the next look. */
  add(text: string, host?: string): void;
  /** A page asks for something of a host, by its name without the port. */
  asked(host: string): void;
  take(): readonly string[];
}

/**
 * Makes an empty list of notes; what is too many is left out.
 *
 * Chromium asks for things on its own account too, such as a connection to the search engine that nobody searches with. What
 * became of those is no news of any page.
 */
export function createNotes(): Notes {
  let notes = new Map<string, string | undefined>();
  const hosts = new Set<string>();
  return {
    add: (text, host) => {
      const line = text.replace(/\s+/g, ' ').slice(0, MAX_LENGTH);
      if (notes.size < MAX_NOTES || notes.has(line)) notes.set(line, host);
    },
    asked: (host) => {
      const [oldest] = hosts;
      if (hosts.size >= MAX_HOSTS && oldest !== undefined) hosts.delete(oldest);
      hosts.delete(host);
      hosts.add(host);
    },
    take: () => {
      const taken = [...notes].filter(([, host]) => host === undefined || hosts.has(host)).map(([text]) => text);
      notes = new Map();
      return taken;
    },
  };
}
