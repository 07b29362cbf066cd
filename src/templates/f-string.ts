/** F-strings: texts with named fields, as Python's `str.format` has them. */
import { renderValue } from '../dsl/render-value.js';
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { formatValue, needsNumber, specProblem } from './jinja/format.js';
import { Budget, guardTemplate, type TemplateLimits } from './template-budget.js';

/** A field of an f-string. */
export interface FStringField {
  readonly name: string;
  /** As it is written, with its braces. */
  readonly written: string;
  /** What stands behind the colon; empty for none. */
  readonly spec: string;
  /** Whether the specification is for numbers alone, for texts alone, or for both. Without one a field holds a text. */
  readonly type: 'number' | 'text' | 'value';
}

/** An f-string that was read. */
export interface FString {
  /** In order, as often as they occur. */
  readonly fields: readonly FStringField[];
  /**
   * Puts values into the fields. Lists and objects become JSON, null nothing. What a value holds is text: its braces are no fields.
   *
   * Errors: `TEMPLATE_FAILED` for a value that does not fit its specification, `TEMPLATE_TOO_LARGE`, and those of `valueFor`.
   */
  fill(valueFor: (field: FStringField) => Json, limits?: TemplateLimits): string;
}

/** A doubled brace, a field, or a brace that is neither. */
const PIECE = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;

/** A name as programs write them; signs of paths, calls and conversions are none. */
const NAME = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/**
 * Reads an f-string: `{name}`, `{name:>10}`, `{price:.2f}`; `{{` and `}}` are braces.
 *
 * Fields are names. Paths (`{user.name}`, `{user[0]}`), positions (`{}`, `{0}`), conversions (`{name!r}`) and fields in specifications are
 * refused: in Python they reach into the program; Jinja and Handlebars have paths into data.
 *
 * @throws EngineError `TEMPLATE_INVALID` with `details: { line, column }`, `TEMPLATE_TOO_LARGE`.
 */
export function readFString(template: string): FString {
  return guardTemplate(template, () => {
    /** Texts and the fields between them: text, field, text … */
    const texts: string[] = [];
    const fields: FStringField[] = [];
    let text = '';
    let from = 0;
    for (const match of template.matchAll(PIECE)) {
      const [written, inside] = match;
      text += template.slice(from, match.index);
      from = match.index + written.length;
      if (written === '{{' || written === '}}') {
        text += written.charAt(0);
        continue;
      }
      fields.push(readField(template, match.index, written, inside));
      texts.push(text);
      text = '';
    }
    texts.push(text + template.slice(from));
    return { fields, fill: (valueFor, limits) => fill(texts, fields, valueFor, new Budget(limits)) };
  });
}

function readField(template: string, at: number, written: string, inside: string | undefined): FStringField {
  if (inside === undefined) {
    const problem = written === '{' ? 'a "{" that is not closed by a "}"' : 'a "}" without a field';
    throw invalid(template, at, `there is ${problem}; write "${written}${written}" for the brace itself`);
  }
  const colon = inside.indexOf(':');
  const name = colon === -1 ? inside : inside.slice(0, colon);
  const spec = colon === -1 ? '' : inside.slice(colon + 1);
  if (!NAME.test(name)) throw invalid(template, at, `the field "${excerpt(written)}" ${whyNoName(name)}`);
  const problem = specProblem(spec);
  if (problem !== undefined)
    throw invalid(template, at, `the specification of the field "${excerpt(written)}" ${problem}`);
  const type = needsNumber(spec) ? 'number' : spec === '' || spec.endsWith('s') ? 'text' : 'value';
  return { name, written, spec, type };
}

function whyNoName(name: string): string {
  if (name === '' || /^\d+$/.test(name)) return 'has no name; every field needs one';
  if (name.includes('!')) return 'has a conversion, which is not available; write the field without "!"';
  if (/^[\p{L}_][\p{L}\p{N}_-]*[.[]/u.test(name)) {
    return 'has a path; fields are names, so pass the value itself or use Jinja or Handlebars';
  }
  return 'has no usable name (letters, digits, "_" and "-"); write "{{" and "}}" for braces';
}

function fill(
  texts: readonly string[],
  fields: readonly FStringField[],
  valueFor: (field: FStringField) => Json,
  budget: Budget,
): string {
  let result = texts[0] ?? '';
  let length = budget.append(0, result);
  for (const [index, field] of fields.entries()) {
    const part = textOf(field, valueFor(field), budget) + texts[index + 1];
    length = budget.append(length, part);
    result += part;
  }
  return result;
}

function textOf(field: FStringField, value: Json, budget: Budget): string {
  const { spec, type } = field;
  if (spec === '') return renderValue(value);
  const isFit = type === 'number' ? typeof value === 'number' : value === null || typeof value !== 'object';
  if (!isFit) throw failed(field, type === 'number' ? 'needs a number' : 'needs a text or a number', value);
  try {
    return formatValue(value, spec, budget);
  } catch (thrown) {
    if (EngineError.is(thrown) && thrown.code === 'TEMPLATE_FAILED')
      throw failed(field, 'cannot be written so', value, thrown);
    throw thrown;
  }
}

/** Longest piece of a template that a message quotes. */
const MAX_EXCERPT = 60;

function excerpt(written: string): string {
  return written.length <= MAX_EXCERPT ? written : `${written.slice(0, MAX_EXCERPT)}…`;
}

function failed({ name, written }: FStringField, why: string, value: Json, cause?: unknown): EngineError {
  const shown =
    typeof value === 'object' ? (value === null ? 'null' : 'a list or an object') : excerpt(JSON.stringify(value));
  return new EngineError(
    'TEMPLATE_FAILED',
    `The field "${name}" ${why} for "${excerpt(written)}", but got ${shown}.`,
    cause === undefined ? {} : { cause },
  );
}

function invalid(template: string, at: number, problem: string): EngineError {
  const before = template.slice(0, at).split('\n');
  const line = before.length;
  const column = (before.at(-1)?.length ?? 0) + 1;
  return new EngineError('TEMPLATE_INVALID', `Template line ${line}, column ${column}: ${problem}.`, {
    details: { line, column },
  });
}
