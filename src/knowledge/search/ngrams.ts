/**
 * A vector of a text without a model: how often its letters follow one another, hashed to 1,024 numbers.
 *
 * Words give their groups of three and four letters, borders included; Chinese gives groups of one to three. The vector of a passage depends
 * on its text alone; how rare a word is in the dataset weighs in the vector of the question, so vectors never grow old.
 */

/** Numbers of a vector. */
export const NGRAM_DIMENSIONS = 1_024;

/** Largest number of an int8. */
const MAX_INT8 = 127;

/** A word or a row of letters, and its weight. */
export interface WeightedForm {
  readonly form: string;
  readonly weight: number;
}

/** The vector of a passage: length about 127 times its largest number, as int8; all 0 for a text without letters. */
export function passageVector(forms: readonly string[]): Int8Array {
  const counts = new Map<number, number>();
  const occurrences = new Map<string, number>();
  for (const form of forms) occurrences.set(form, (occurrences.get(form) ?? 0) + 1);
  // One closure for all forms, and no pair for each entry: this is a third of what indexing a passage takes.
  let times = 0;
  const visit = (hash: number): void => {
    counts.set(hash, (counts.get(hash) ?? 0) + times);
  };
  occurrences.forEach((found, form) => {
    times = found;
    eachGram(form, visit);
  });
  const values = new Float64Array(NGRAM_DIMENSIONS);
  counts.forEach((count, hash) => {
    add(values, hash, count === 1 ? 1 : 1 + Math.log(count));
  });
  return quantize(values);
}

/** The vector of a question, of length 1; all 0 for one without letters. */
export function questionVector(forms: readonly WeightedForm[]): Float64Array {
  const values = new Float64Array(NGRAM_DIMENSIONS);
  for (const { form, weight } of forms) eachGram(form, (hash) => add(values, hash, weight));
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? values : values.map((value) => value / length);
}

/** Places in a vector of a question that are not 0: a question is short, so most are. */
export function filledPlaces(question: Float64Array): Uint32Array {
  return Uint32Array.from(question.keys()).filter((at) => question[at] !== 0);
}

/** Cosine of a question and a passage; 0 for an empty passage. */
export function cosine(question: Float64Array, places: Uint32Array, passage: Int8Array): number {
  let product = 0;
  for (const at of places) product += (question[at] as number) * (passage[at] as number);
  let squares = 0;
  for (const value of passage) squares += value * value;
  return squares === 0 ? 0 : product / Math.sqrt(squares);
}

/** Scales numbers so that the largest is 127. */
export function quantize(values: ArrayLike<number>): Int8Array {
  let largest = 0;
  for (let at = 0; at < values.length; at += 1) largest = Math.max(largest, Math.abs(values[at] as number));
  const scaled = new Int8Array(values.length);
  if (largest === 0) return scaled;
  for (let at = 0; at < values.length; at += 1) scaled[at] = Math.round(((values[at] as number) * MAX_INT8) / largest);
  return scaled;
}

const MAX_ASCII = 127;
const HAN = /^\p{Script=Han}/u;

function eachGram(form: string, visit: (hash: number) => void): void {
  const isHan = form.charCodeAt(0) > MAX_ASCII && HAN.test(form);
  const letters = isHan ? form : `_${form}_`;
  const [least, most] = isHan ? [1, 3] : [3, 4];
  for (let size = least; size <= most; size += 1) {
    for (let from = 0; from + size <= letters.length; from += 1) visit(hashOf(letters, from, size));
  }
}

/** FNV-1a over UTF-16 units, its high bits folded in. */
function hashOf(text: string, from: number, size: number): number {
  let hash = 2_166_136_261;
  for (let at = from; at < from + size; at += 1) {
    hash ^= text.charCodeAt(at);
    hash = Math.imul(hash, 16_777_619);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** One bit of the hash is the sign, so that groups which share a place cancel out on average. */
function add(values: Float64Array, hash: number, weight: number): void {
  const place = hash % NGRAM_DIMENSIONS;
  values[place] = (values[place] as number) + ((hash >>> 20) & 1 ? weight : -weight);
}
