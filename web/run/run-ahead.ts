/** The run that the page is loaded for. */
import type { Client } from '../api/client.js';
import type { OpenLink } from '../api/feed.js';
import { openAhead } from '../api/open-ahead.js';
import { type RunPlace, socketLink } from '../api/socket-link.js';
import { agentRun } from './paths.js';
import { readAddress } from './place.js';

/**
 * Asks for the events of the run that an address names, before its screen is loaded and knows the agent: most of the time until a long run is
 * shown is the server's, which reads and sends it. Made once, when the page begins.
 */
export class RunAhead {
  readonly #place: RunPlace | undefined;
  readonly #link: OpenLink | undefined;

  /** @param path of the address, such as `/agents/a1/runs/r1`; others ask for nothing */
  constructor(client: Client, path: string) {
    const { agent, run } = readAddress(path) ?? {};
    if (agent === undefined || run === undefined) return;
    this.#place = agentRun(agent, run);
    this.#link = openAhead(socketLink(client, this.#place));
  }

  /** The connection to the events of a run; undefined where it is not the one that the page was loaded for. */
  linkOf({ agent, run }: RunPlace): OpenLink | undefined {
    return this.#place?.agent === agent && this.#place.run === run ? this.#link : undefined;
  }
}
