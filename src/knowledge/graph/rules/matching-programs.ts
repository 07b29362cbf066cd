/** Whether any text fits a pattern, by the program that `re2js` makes of it. */

/** An instruction: what it does, where it goes on, and for characters which. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
}

/** Kinds of instructions, as `re2js` numbers them. */
const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  empty: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  rune1: 9,
  any: 10,
  anyButLine: 11,
};

/** What stands at a place, as far as assertions mind it: nothing, the end of a line, a letter of a word, another one. */
const NONE = 1;
const LINE = 2;
const WORD = 4;
const OTHER = 8;
const ALL = NONE | LINE | WORD | OTHER;

/** Assertions, as `re2js` numbers them. */
const ASSERT = { lineBegins: 1, lineEnds: 2, textBegins: 4, textEnds: 8, boundary: 16, noBoundary: 32 };

/** Of an instruction: that its letters are taken in both cases. */
const FOLDS_CASE = 1;

const [LINE_FEED, MOST_STATES] = [0x0a, 200_000];
const WORDS: readonly (readonly [first: number, last: number])[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];

/** False when no text fits a compiled pattern: `[^\s\S]`, `a^b`, `x\by`. True where that is not known. */
export function canMatch(compiled: unknown): boolean {
  const program = (compiled as { readonly re2Input?: { readonly prog?: unknown } }).re2Input?.prog as
    | { readonly inst: readonly Instruction[]; readonly start: number }
    | undefined;
  if (program === undefined || !Array.isArray(program.inst)) return true;
  /** A place in the program, what stands before it, and what may stand behind it. */
  const open: (readonly [at: number, before: number, behind: number])[] = [];
  const seen = new Set<number>();
  const visit = (at: number, before: number, behind: number): void => {
    const key = (at * 16 + before) * 16 + behind;
    if (behind === 0 || seen.has(key)) return;
    seen.add(key);
    open.push([at, before, behind]);
  };
  for (const before of [NONE, LINE, WORD, OTHER]) visit(program.start, before, ALL);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, before, behind] = next;
    const instruction = program.inst[at];
    if (instruction === undefined || seen.size > MOST_STATES) return true;
    const { op, out, arg } = instruction;
    if (op === OP.match) return true;
    if (op === OP.fail) continue;
    if (op === OP.alt || op === OP.altMatch) {
      visit(out, before, behind);
      visit(arg, before, behind);
    } else if (op === OP.capture || op === OP.nop) visit(out, before, behind);
    else if (op === OP.empty) visit(out, before, behind & allowed(arg, before));
    else if (op >= OP.rune && op <= OP.anyButLine) {
      const kinds = behind & kindsOf(instruction);
      for (const kind of [LINE, WORD, OTHER]) if ((kinds & kind) !== 0) visit(out, kind, ALL);
    } else return true;
  }
  return false;
}

/** What may stand behind a place where assertions hold. */
function allowed(assertions: number, before: number): number {
  let behind = ALL;
  const isWord = before === WORD;
  if ((assertions & ASSERT.lineBegins) !== 0 && before !== NONE && before !== LINE) return 0;
  if ((assertions & ASSERT.textBegins) !== 0 && before !== NONE) return 0;
  if ((assertions & ASSERT.lineEnds) !== 0) behind &= NONE | LINE;
  if ((assertions & ASSERT.textEnds) !== 0) behind &= NONE;
  if ((assertions & ASSERT.boundary) !== 0) behind &= isWord ? ~WORD : WORD;
  if ((assertions & ASSERT.noBoundary) !== 0) behind &= isWord ? WORD : ~WORD;
  return behind & ALL;
}

/** Which kinds of characters an instruction takes. */
function kindsOf({ op, arg, runes }: Instruction): number {
  if (op === OP.any) return LINE | WORD | OTHER;
  if (op === OP.anyButLine) return WORD | OTHER;
  // A letter in both cases may have a third form that is of no word.
  let kinds = (arg & FOLDS_CASE) === 0 ? 0 : OTHER;
  for (let at = 0; at < runes.length; at += 2) {
    const first = runes[at] as number;
    const last = runes[at + 1] ?? first;
    if (first <= LINE_FEED && LINE_FEED <= last) kinds |= LINE;
    if (WORDS.some(([from, to]) => first <= to && from <= last)) kinds |= WORD;
    const isInside = WORDS.some(([from, to]) => from <= first && last <= to);
    if (!isInside && !(first === LINE_FEED && last === LINE_FEED)) kinds |= OTHER;
  }
  return kinds;
}
