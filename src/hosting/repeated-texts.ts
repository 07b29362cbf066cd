/**
 * Texts that a run reports again and again, such as the sources of an answer and what a model was asked, stored with the first event that has them.
 *
 * What is stored of a later event has an empty text in their place, and in `repeats` where they are: events of the engine have no such field, and nothing
 * that a user sends becomes a field of one. Readers get the events whole. An event without `repeats`, as older versions wrote all of them, is whole.
 */
import { forEachLongText, type Repeat, repeatsOf, setText, type TextPath, textAt } from '../canvas/repeated-texts.js';
import type { RunEvent } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject, parseOwnJson } from '../json.js';
import type { LoggedEvent, RunLog } from '../records/run-log.js';

/** UTF-16 units of the JSON of an event that is looked at. */
const MIN_JSON = 1_024;
/** Texts of a run that are remembered, and UTF-16 units of them all. */
const MAX_TEXTS = 1_024;
const MAX_UNITS = 1_048_576;

/** Where a text stands: in which event, and where in it. */
interface Place {
  readonly seq: number;
  readonly path: TextPath;
}

/** Leaves out of the events of one run what earlier ones have. */
export class RepeatedTexts {
  readonly #places = new Map<string, Place>();
  #units = 0;

  /** What is stored of an event whose JSON is given. Events come in their order; the same one may come again. */
  stored(event: RunEvent, json: string): string {
    if (json.length < MIN_JSON) return json;
    const repeats: Repeat[] = [];
    const { seq } = event;
    forEachLongText(event, (text, path) => {
      const place = this.#places.get(text);
      if (place === undefined) this.#remember(text, { seq, path });
      else if (place.seq < seq) repeats.push([path, place.seq, place.path]);
    });
    if (repeats.length === 0) return json;
    const copy = parseOwnJson(json);
    if (!isJsonObject(copy)) return json;
    for (const [path] of repeats) setText(copy, path, '');
    return JSON.stringify({ ...copy, repeats });
  }

  #remember(text: string, place: Place): void {
    if (this.#places.size >= MAX_TEXTS || this.#units + text.length > MAX_UNITS) return;
    this.#units += text.length;
    this.#places.set(text, place);
  }
}

/** A log whose events are whole, also those that are stored without what earlier ones have. */
export function wholeLog(log: RunLog): RunLog {
  const { confirm } = log;
  return {
    ...(log.isVolatile !== undefined && { isVolatile: log.isVolatile }),
    claim: (tenant, run) => log.claim(tenant, run),
    append: (tenant, run, batch) => log.append(tenant, run, batch),
    ...(confirm && { confirm: (tenant: string, run: string, epoch?: number) => confirm.call(log, tenant, run, epoch) }),
    async read(tenant, run, after, bounds) {
      const page = await log.read(tenant, run, after, bounds);
      if (page?.some(mayRepeat) !== true) return page;
      const earlier = new Map<number, Promise<Json | undefined>>();
      const find = (seq: number): Promise<Json | undefined> => {
        const known = earlier.get(seq);
        if (known !== undefined) return known;
        const found = eventNumbered(log, tenant, run, seq, page);
        earlier.set(seq, found);
        return found;
      };
      const whole: LoggedEvent[] = [];
      let size = 0;
      for (const stored of page) {
        const event = mayRepeat(stored) ? await filled(stored, find) : stored;
        size += event.json.length;
        // One text may be in every event of a page.
        if (size > bounds.maxBytes && whole.length > 0) break;
        whole.push(event);
      }
      return whole;
    },
    snapshot: (tenant, run, atMost) => log.snapshot(tenant, run, atMost),
    end: (tenant, run, epoch) => log.end(tenant, run, epoch),
    delete: (tenant, run) => log.delete(tenant, run),
  };
}

/** Whether the JSON of an event lacks something that stands elsewhere; a few that are whole look as if it did. */
export function isShortened({ json }: Pick<LoggedEvent, 'json'>): boolean {
  return json.endsWith(']]]}') && json.includes(',"repeats":[[');
}

/** Frames of this process know what they are. */
function mayRepeat(stored: LoggedEvent): boolean {
  return !('source' in stored) && isShortened(stored);
}

/** An event of the page, or of the log. */
async function eventNumbered(
  log: RunLog,
  tenant: string,
  run: string,
  seq: number,
  page: readonly LoggedEvent[],
): Promise<Json | undefined> {
  const [first] = page;
  const inPage = first === undefined ? undefined : page[seq - first.seq];
  const stored = inPage?.seq === seq ? inPage : (await log.read(tenant, run, seq - 1, ONE))?.[0];
  return stored?.seq === seq ? parseOwnJson(stored.json) : undefined;
}

const ONE = { maxEvents: 1, maxBytes: 1 };

async function filled(stored: LoggedEvent, find: (seq: number) => Promise<Json | undefined>): Promise<LoggedEvent> {
  const event = parseOwnJson(stored.json);
  const missing = isJsonObject(event) ? repeatsOf(event, stored.seq) : undefined;
  if (missing === undefined) return stored;
  const { repeats: _, ...whole } = event as JsonObject;
  for (const [path, seq, from] of missing) {
    const text = textAt(await find(seq), from);
    if (text !== undefined) setText(whole, path, text);
  }
  return { seq: stored.seq, event: stored.event, json: JSON.stringify(whole) };
}
