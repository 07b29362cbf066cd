/** Members of values in Jinja: own keys, positions, and the methods of texts, lists and objects. */
import { formatText } from './format.js';
import { type Runtime, readArguments, textArgument, wholeNumber } from './runtime.js';
import * as text from './text.js';
import {
  type Arguments,
  dict,
  entriesOf,
  isDict,
  isEqual,
  isList,
  isSpecial,
  own,
  type Special,
  special,
  toItems,
  typeName,
  type Value,
} from './values.js';

/** Reads `object.name`: an own key, else a method; `called` says that a call follows, which reverses the order. */
export function getAttribute(object: Value, name: string, called: boolean, run: Runtime): Value {
  if (object === undefined) return run.budget.fail(`"${name}" cannot be read from a value that is undefined`);
  if (isSpecial(object)) return object.get?.(name);
  const method = called || !isDict(object) ? methodOf(object, name, run) : undefined;
  if (method !== undefined || !isDict(object)) return method;
  return Object.hasOwn(object, name) ? object[name] : methodOf(object, name, run);
}

/** Reads `object[key]`: an own key, or a position, negative ones from the end. */
export function getItem(object: Value, key: Value, run: Runtime): Value {
  if (object === undefined) return run.budget.fail(`an item of a value that is undefined cannot be read`);
  if (typeof key === 'string' && isSpecial(object) && object.get !== undefined) return object.get(key);
  if (isDict(object)) return typeof key === 'string' || typeof key === 'number' ? own(object, String(key)) : undefined;
  if (typeof key !== 'number' || !Number.isInteger(key)) return undefined;
  if (typeof object === 'string') return characterAt(object, key, run);
  const items = isSpecial(object) ? object.items : isList(object) ? object : undefined;
  return items?.[key < 0 ? key + items.length : key];
}

/** Reads a dotted path such as `user.names.0`, as the `attribute` argument of filters takes it. */
export function getPath(object: Value, path: Value, run: Runtime): Value {
  if (typeof path === 'number') return getItem(object, path, run);
  if (typeof path !== 'string') return run.budget.fail(`an attribute is named by a text, not by ${typeName(path)}`);
  let current = object;
  for (const part of path.split('.')) {
    if (current === undefined) return undefined;
    run.budget.spend();
    current = getItem(current, /^\d+$/.test(part) && !isDict(current) ? Number(part) : part, run);
  }
  return current;
}

function methodOf(object: Value, name: string, run: Runtime): Special | undefined {
  if (typeof object === 'string') return textMethod(object, name, run);
  return isDict(object) || isList(object) ? dictMethod(object, name, run) : undefined;
}

function characterAt(text: string, position: number, run: Runtime): Value {
  // Without surrogates a position in UTF-16 is a position in characters.
  if (!/[\ud800-\udfff]/.test(text)) return text[position < 0 ? position + text.length : position];
  run.budget.reserveItems(text.length);
  const characters = Array.from(text);
  return characters[position < 0 ? position + characters.length : position];
}

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
  ['strip', [['chars'], (self, [chars], run) => text.strip(self, textArgument(chars, undefined, run.budget), 'both')]],
  [
    'lstrip',
    [['chars'], (self, [chars], run) => text.strip(self, textArgument(chars, undefined, run.budget), 'start')],
  ],
  ['rstrip', [['chars'], (self, [chars], run) => text.strip(self, textArgument(chars, undefined, run.budget), 'end')]],
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
function textMethod(self: string, name: string, run: Runtime): Special | undefined {
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

function listed(items: readonly string[], run: Runtime): readonly string[] {
  run.budget.reserveItems(items.length);
  return items;
}

/** Methods that would change a value; refused, as values are shared and never change. */
const CHANGING = new Set('append extend insert pop popitem remove clear sort reverse update setdefault'.split(' '));

/** Gives the method of an object or list, or undefined when it has none of that name. */
function dictMethod(object: Value, name: string, run: Runtime): Special | undefined {
  const call = isDict(object) ? ofDict(object, name, run) : isList(object) ? ofList(object, name, run) : undefined;
  if (call !== undefined) return special(`method ${name}`, { call });
  if (!CHANGING.has(name)) return undefined;
  return special(`method ${name}`, {
    call: () =>
      run.budget.fail(`"${name}" would change a value; build a new one, such as "items + [x]", or use a namespace`),
  });
}

function ofDict(
  object: Readonly<Record<string, Value>>,
  name: string,
  run: Runtime,
): ((args: Arguments) => Value) | undefined {
  const { budget } = run;
  switch (name) {
    case 'items':
      return () => entriesOf(object, budget);
    case 'keys':
      return () => entriesOf(object, budget).map(([key]) => key);
    case 'values':
      return () => entriesOf(object, budget).map(([, value]) => value);
    case 'copy':
      return () => dict(entriesOf(object, budget));
    case 'get':
      return (args) => {
        const [key, fallback = null] = readArguments(name, args, ['key', 'default'], budget);
        const found = typeof key === 'string' || typeof key === 'number' ? own(object, String(key)) : undefined;
        return found === undefined ? fallback : found;
      };
  }
  return undefined;
}

function ofList(list: readonly Value[], name: string, run: Runtime): ((args: Arguments) => Value) | undefined {
  const { budget } = run;
  const matches = (args: Arguments): ((item: Value) => boolean) => {
    const [wanted] = readArguments(name, args, ['value'], budget);
    budget.visit(list.length);
    return (item) => isEqual(item, wanted, budget);
  };
  switch (name) {
    case 'copy':
      return () => list;
    case 'count':
      return (args) => list.filter(matches(args)).length;
    case 'index':
      return (args) => {
        const index = list.findIndex(matches(args));
        return index === -1 ? budget.fail('the list does not have the item whose index is asked for') : index;
      };
  }
  return undefined;
}
