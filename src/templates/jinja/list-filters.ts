import { applyBinary } from './evaluate.js';
import { getPath } from './members.js';
import { type FilterRow, NO_VALUES, openRow, type Runtime, row, textArgument, wholeNumber } from './runtime.js';
import * as text from './text.js';
import {
  type Arguments,
  compareValues,
  entriesOf,
  isDict,
  isEqual,
  isTrue,
  special,
  toItems,
  toJson,
  toText,
  typeName,
  type Value,
} from './values.js';

/** Filters on lists and other iterable values. */
export const LIST_FILTERS: readonly FilterRow[] = [
  row('first', [], (value, _args, run) => toItems(value, run.budget)[0]),
  row('last', [], (value, _args, run) => toItems(value, run.budget).at(-1)),
  row('list', [], (value, _args, run) => toItems(value, run.budget)),
  row('reverse', [], reverse),
  row('join', ['d', 'attribute'], join),
  row('sort', ['reverse', 'case_sensitive', 'attribute'], sort),
  row('unique', ['case_sensitive', 'attribute'], unique),
  row('min', ['case_sensitive', 'attribute'], (value, args, run) => extreme(value, args, run, -1)),
  row('max', ['case_sensitive', 'attribute'], (value, args, run) => extreme(value, args, run, 1)),
  row('sum', ['attribute', 'start'], sum),
  row('batch', ['linecount', 'fill_with'], batch),
  row('slice', ['slices', 'fill_with'], sliceInto),
  row('groupby', ['attribute', 'default', 'case_sensitive'], groupBy),
  row('dictsort', ['case_sensitive', 'by', 'reverse'], dictSort),
  openRow('map', map),
  openRow('select', (value, args, run) => filterItems(value, args, run, false, true)),
  openRow('reject', (value, args, run) => filterItems(value, args, run, false, false)),
  openRow('selectattr', (value, args, run) => filterItems(value, args, run, true, true)),
  openRow('rejectattr', (value, args, run) => filterItems(value, args, run, true, false)),
];

function reverse(value: Value, _args: readonly Value[], run: Runtime): Value {
  const items = toItems(value, run.budget).toReversed();
  return typeof value === 'string' ? items.join('') : items;
}

function join(value: Value, [separator, attribute]: readonly Value[], run: Runtime): string {
  const parts = toItems(value, run.budget).map((item) => attributeOf(item, attribute, run));
  return text.join(parts, textArgument(separator, '', run.budget), run.budget);
}

/** Sorts stably; several attributes are given as `"name,age"`. */
function sort(value: Value, [reversed, caseSensitive, attribute]: readonly Value[], run: Runtime): Value {
  const paths: readonly Value[] = typeof attribute === 'string' ? attribute.split(',') : [attribute];
  const items = toItems(value, run.budget);
  run.budget.sort(items.length, paths.length);
  const keyed = items.map((item) => ({
    item,
    keys: paths.map((path) => sortKey(attributeOf(item, path, run), caseSensitive)),
  }));
  const direction = isTrue(reversed) ? -1 : 1;
  keyed.sort((left, right) => {
    for (let i = 0; i < paths.length; i++) {
      const order = compareValues(left.keys[i], right.keys[i], run.budget);
      if (order !== 0) return direction * order;
    }
    return 0;
  });
  return keyed.map(({ item }) => item);
}

function unique(value: Value, [caseSensitive, attribute]: readonly Value[], run: Runtime): Value {
  const seen = new Set<string>();
  return toItems(value, run.budget).filter((item) => {
    const key = sortKey(attributeOf(item, attribute, run), caseSensitive);
    const identity = JSON.stringify(toJson(key, run.budget));
    return seen.has(identity) ? false : seen.add(identity);
  });
}

function extreme(value: Value, [caseSensitive, attribute]: readonly Value[], run: Runtime, sign: number): Value {
  const items = toItems(value, run.budget);
  const key = (item: Value): Value => sortKey(attributeOf(item, attribute, run), caseSensitive);
  let best = items[0];
  for (const item of items) if (sign * compareValues(key(item), key(best), run.budget) > 0) best = item;
  return best;
}

function sum(value: Value, [attribute, start = 0]: readonly Value[], run: Runtime): Value {
  const items = toItems(value, run.budget);
  return items.reduce((total: Value, item) => {
    run.budget.spend();
    return applyBinary('+', total, attributeOf(item, attribute, run), run.budget);
  }, start);
}

function batch(value: Value, [lineCount, fill]: readonly Value[], run: Runtime): Value {
  const size = wholeNumber(lineCount, 0, 'linecount', run.budget);
  if (size < 1) return run.budget.fail('"batch" needs a line count of at least 1');
  const items = toItems(value, run.budget);
  const rows = Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
  const last = rows.at(-1);
  if (last === undefined || fill === undefined || fill === null) return rows;
  run.budget.reserveItems(size);
  return [...rows.slice(0, -1), [...last, ...Array.from({ length: size - last.length }, () => fill)]];
}

/** Distributes items over columns; the first ones get the remainder. */
function sliceInto(value: Value, [slices, fill]: readonly Value[], run: Runtime): Value {
  const count = wholeNumber(slices, 0, 'slices', run.budget);
  if (count < 1) return run.budget.fail('"slice" needs at least 1 slice');
  run.budget.reserveItems(count);
  const items = toItems(value, run.budget);
  const size = Math.floor(items.length / count);
  const longer = items.length % count;
  return Array.from({ length: count }, (_, i) => {
    const start = i * size + Math.min(i, longer);
    const column = items.slice(start, start + size + (i < longer ? 1 : 0));
    return fill !== undefined && fill !== null && i >= longer && longer > 0 ? [...column, fill] : column;
  });
}

function groupBy(value: Value, [attribute, fallback, caseSensitive]: readonly Value[], run: Runtime): Value {
  const { budget } = run;
  const keyOf = (item: Value): Value => {
    const key = getPath(item, attribute, run);
    return key === undefined ? fallback : key;
  };
  const groups: { key: Value; grouper: Value; list: Value[] }[] = [];
  const items = toItems(value, budget);
  budget.sort(items.length);
  const keyed = items.map((item) => ({
    item,
    grouper: keyOf(item),
    key: sortKey(keyOf(item), caseSensitive),
  }));
  keyed.sort((left, right) => compareValues(left.key, right.key, budget));
  for (const { item, grouper, key } of keyed) {
    const last = groups.at(-1);
    if (last !== undefined && isEqual(last.key, key, budget)) last.list.push(item);
    else groups.push({ key, grouper, list: [item] });
  }
  return groups.map(({ grouper, list }) =>
    special('group', {
      items: [grouper, list],
      get: (name) => (name === 'grouper' ? grouper : name === 'list' ? list : undefined),
    }),
  );
}

function dictSort(value: Value, [caseSensitive, by = 'key', reversed]: readonly Value[], run: Runtime): Value {
  const { budget } = run;
  if (!isDict(value)) return budget.fail(`"dictsort" needs an object, but got ${typeName(value)}`);
  if (by !== 'key' && by !== 'value') return budget.fail('"dictsort" sorts by "key" or "value"');
  const column = by === 'key' ? 0 : 1;
  const direction = isTrue(reversed) ? -1 : 1;
  const entries = entriesOf(value, budget);
  budget.sort(entries.length);
  return entries.sort(
    (left, right) =>
      direction * compareValues(sortKey(left[column], caseSensitive), sortKey(right[column], caseSensitive), budget),
  );
}

/** `map("upper")` applies a filter, `map(attribute="name")` reads an attribute. */
function map(value: Value, { positional, keyword }: Arguments, run: Runtime): Value {
  const items = toItems(value, run.budget);
  if (positional.length === 0 && keyword.has('attribute')) {
    return items.map((item) => {
      run.budget.spend();
      const found = getPath(item, keyword.get('attribute'), run);
      return found === undefined ? keyword.get('default') : found;
    });
  }
  const [name, ...rest] = positional;
  if (typeof name !== 'string') return run.budget.fail('"map" needs the name of a filter, or attribute="…"');
  return items.map((item) => {
    run.budget.spend();
    return run.applyFilter(name, item, { positional: rest, keyword });
  });
}

/** Selects or rejects items by a test, on an attribute if one is given; without a test, by truth. */
function filterItems(
  value: Value,
  { positional, keyword }: Arguments,
  run: Runtime,
  byAttribute: boolean,
  keeps: boolean,
): Value {
  const items = toItems(value, run.budget);
  const path = byAttribute ? positional[0] : undefined;
  const [test, ...rest] = byAttribute ? positional.slice(1) : positional;
  if (byAttribute && path === undefined) return run.budget.fail('the name of an attribute is missing');
  return items.filter((item) => {
    run.budget.spend();
    const subject = byAttribute ? getPath(item, path, run) : item;
    if (test === undefined) return isTrue(subject) === keeps;
    return (
      run.applyTest(
        toText(test, run.budget),
        subject,
        rest.length > 0 || keyword.size > 0 ? { positional: rest, keyword } : NO_VALUES,
      ) === keeps
    );
  });
}

/** An item, or its attribute where one is named. */
function attributeOf(item: Value, attribute: Value, run: Runtime): Value {
  return attribute === undefined || attribute === null ? item : getPath(item, attribute, run);
}

/** Texts are ordered without regard to case unless asked for. */
function sortKey(value: Value, caseSensitive: Value): Value {
  return typeof value === 'string' && !isTrue(caseSensitive) ? value.toLowerCase() : value;
}
