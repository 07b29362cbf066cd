/** Cities and countries in what users write. */
import { PLACE_TABLE } from './place-table.js';

/** A place that is known. */
export interface Place {
  /** In English, as maps call it. */
  readonly name: string;
  /** In the IANA list. */
  readonly timezone: string;
  readonly isCountry: boolean;
}

/** A place in a text. */
export interface PlaceFound {
  readonly place: Place;
  /** In UTF-16 units, as `String.slice` counts. */
  readonly start: number;
  readonly end: number;
}

const PLACES: ReadonlyMap<string, Place> = readTable();

/** UTF-16 units of the longest name. */
const LONGEST = Math.max(...[...PLACES.keys()].map((name) => name.length));

/** Places by every name in lower case. */
function readTable(): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const line of PLACE_TABLE.trim().split('\n')) {
    const [first = '', others = '', timezone = ''] = line.split('|');
    const isCountry = first.startsWith('*');
    const name = isCountry ? first.slice(1) : first;
    for (const one of [name, ...others.split(',')]) {
      if (one !== '' && !places.has(one.toLowerCase())) places.set(one.toLowerCase(), { name, timezone, isCountry });
    }
  }
  return places;
}

/** The place of exactly this name. */
export function placeCalled(name: string): Place | undefined {
  return PLACES.get(name.trim().toLowerCase());
}

/**
 * Places in a text in lower case, from its beginning on, the longest name where several begin; Latin names only as whole words. Takes time with the
 * length of the text alone.
 */
export function findPlaces(lower: string): readonly PlaceFound[] {
  const found: PlaceFound[] = [];
  let at = 0;
  while (at < lower.length) {
    const place = placeAt(lower, at);
    if (place === undefined) at += 1;
    else {
      found.push(place);
      at = place.end;
    }
  }
  return found;
}

function placeAt(lower: string, start: number): PlaceFound | undefined {
  if (isLetter(lower[start]) && isLetter(lower[start - 1])) return undefined;
  for (let length = Math.min(LONGEST, lower.length - start); length > 1; length -= 1) {
    const end = start + length;
    const place = PLACES.get(lower.slice(start, end));
    if (place === undefined) continue;
    if (isLetter(lower[end - 1]) && isLetter(lower[end])) continue;
    return { place, start, end };
  }
  return undefined;
}

function isLetter(sign: string | undefined): boolean {
  return sign !== undefined && /[a-z0-9\u00e0-\u024f]/.test(sign);
}
