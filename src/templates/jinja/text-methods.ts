import { readArguments, textArgument, wholeNumber } from './arguments.js';
import { formatText } from './format.js';
import type { Runtime } from './runtime.js';
import * as text from './text.js';
import { type Arguments, isList, type Special, special, toItems, toText, typeName, type Value } from './values.js';

/** What a method gets: the text it belongs to, its arguments by position, and the rendering. */
type Method = readonly [names: readonly string[], apply: (self: string, args: readonly Value[], run: Runtime) => Value];

/** Python's methods of a text, as far as they make sense in a template; `format`, which takes any arguments, is beside them. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['upper', [[], (self) => self.toUpperCase()]],
  ['lower', [[], (self) => self.toLowerCase()]],
  ['casefold', [[], (self) => self.toLowerCase()]],
  ['title', [[], (self) => text.titleLetters(self)]],
  ['capitalize', [[], (self) => text.capitalize(self)]],
  ['swapcase', [[], (self) => text.swapCase(self)]],
  ['strip', [['chars'], (self, [chars], run) => text.strip(self, optional(chars, run), 'both')]],
  ['lstrip', [['chars'], (self, [chars], run) => text.strip(self, optional(chars, run), 'start')]],
  ['rstrip', [['chars'], (self, [chars], run) => text.strip(self, optional(chars, run), 'end')]],
  ['split', [['sep', 'maxsplit'], (self, args, run) => split(self, args, run, false)]],
  ['rsplit', [['sep', 'maxsplit'], (self, args, run) => split(self, args, run, true)]],
  ['splitlines', [[], (self, _args, run) => listed(text.splitLines(self), run)]],
  ['replace', [['old', 'new', 'count'], replace]],
  ['join', [['iterable'], join]],
  ['startswith', [['prefix', 'start'], (self, [prefix], run) => some(prefix, run, (part) => self.startsWith(part))]],
  ['endswith', [['suffix', 'start'], (self, [suffix], run) => some(suffix, run, (part) => self.endsWith(part))]],
  ['removeprefix', [['prefix'], (self, [part], run) => text.removePrefix(self, needed(part, 'removeprefix', run))]],
  ['removesuffix', [['suffix'], (self, [part], run) => text.removeSuffix(self, needed(part, 'removesuffix', run))]],
  ['find', [['sub'], (self, [part], run) => text.find(self, needed(part, 'find', run), false)]],
  ['rfind', [['sub'], (self, [part], run) => text.find(self, needed(part, 'rfind', run), true)]],
  ['index', [['sub'], index]],
  ['count', [['sub'], (self, [part], run) => text.countOccurrences(self, needed(part, 'count', run))]],
  ['partition', [['sep'], (self, [part], run) => text.partition(self, needed(part, 'partition', run), false)]],
  ['rpartition', [['sep'], (self, [part], run) => text.partition(self, needed(part, 'rpartition', run), true)]],
  ['center', [['width', 'fillchar'], (self, args, run) => padded(self, args, run, 'both')]],
  ['ljust', [['width', 'fillchar'], (self, args, run) => padded(self, args, run, 'end')]],
  ['rjust', [['width', 'fillchar'], (self, args, run) => padded(self, args, run, 'start')]],
  ['zfill', [['width'], (self, [width], run) => zeroFilled(self, width, run)]],
  ['isdigit', [[], (self) => /^\p{Nd}+$/u.test(self)]],
  ['isnumeric', [[], (self) => /^\p{N}+$/u.test(self)]],
  ['isalpha', [[], (self) => /^\p{L}+$/u.test(self)]],
  ['isalnum', [[], (self) => /^[\p{L}\p{N}]+$/u.test(self)]],
  ['isspace', [[], (self) => /^\s+$/.test(self)]],
  ['isupper', [[], (self) => self !== self.toLowerCase() && self === self.toUpperCase()]],
  ['islower', [[], (self) => self !== self.toUpperCase() && self === self.toLowerCase()]],
]);

/** Gives the method of a text, or undefined when it has none of that name. */
export function textMethod(self: string, name: string, run: Runtime): Special | undefined {
  if (name === 'format') return special('method format', { call: (args) => formatText(self, args, run.budget) });
  const method = METHODS.get(name);
  if (method === undefined) return undefined;
  const [names, apply] = method;
  return special(`method ${name}`, {
    call: (args: Arguments) => {
      run.budget.reserve(self.length);
      const result = apply(self, readArguments(name, args, names, run.budget), run);
      return typeof result === 'string' ? run.budget.text(result) : result;
    },
  });
}

function split(self: string, [separator, most]: readonly Value[], run: Runtime, fromEnd: boolean): Value {
  const limit = wholeNumber(most, -1, 'maxsplit', run.budget);
  const by = separator === undefined || separator === null ? undefined : needed(separator, 'split', run);
  if (by === '') return run.budget.fail('"split" needs a separator that is not empty');
  return listed(text.split(self, by, limit < 0 ? Number.POSITIVE_INFINITY : limit, fromEnd), run);
}

function replace(self: string, [from, to, count]: readonly Value[], run: Runtime): string {
  const most = wholeNumber(count, -1, 'count', run.budget);
  return text.replace(self, needed(from, 'replace', run), needed(to, 'replace', run), most, run.budget);
}

function join(self: string, [items]: readonly Value[], run: Runtime): string {
  return text.join(toItems(items, run.budget), self, run.budget);
}

function index(self: string, [part]: readonly Value[], run: Runtime): number {
  const position = text.find(self, needed(part, 'index', run), false);
  return position === -1 ? run.budget.fail('the text does not have the part whose index is asked for') : position;
}

function padded(self: string, [width, fill]: readonly Value[], run: Runtime, side: 'start' | 'end' | 'both'): string {
  const char = textArgument(fill, ' ', run.budget);
  return text.pad(self, wholeNumber(width, 0, 'width', run.budget), char, side, run.budget);
}

/** The zeros stand behind the sign. */
function zeroFilled(self: string, width: Value, run: Runtime): string {
  const sign = /^[-+]/.exec(self)?.[0] ?? '';
  const digits = wholeNumber(width, 0, 'width', run.budget) - sign.length;
  return sign + padded(self.slice(sign.length), [digits, '0'], run, 'start');
}

function some(part: Value, run: Runtime, test: (part: string) => boolean): boolean {
  const parts = isList(part) ? part : [part];
  return parts.some((each) => test(needed(each, 'startswith', run)));
}

function needed(value: Value, method: string, run: Runtime): string {
  return typeof value === 'string' ? value : run.budget.fail(`"${method}" needs a text, but got ${typeName(value)}`);
}

function optional(value: Value, run: Runtime): string | undefined {
  return value === undefined || value === null ? undefined : toText(value, run.budget);
}

function listed(items: readonly string[], run: Runtime): readonly string[] {
  run.budget.reserveItems(items.length);
  return items;
}
