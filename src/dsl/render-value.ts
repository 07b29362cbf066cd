import { EngineError } from '../errors.js';
import type { Json } from '../json.js';

/** How values become text. */
export interface RenderOptions {
  /** Joins the items of a list instead of writing the list as JSON. */
  readonly delimiter?: string;
}

/** Deepest nesting that is written; parsed JSON can be deeper than the stack. */
const MAX_DEPTH = 512;

/**
 * Gives the text of a value: nothing for null and undefined, a text as it is, everything else as JSON.
 *
 * @throws EngineError `TEMPLATE_TOO_LARGE` for values nested deeper than 512 levels.
 */
export function renderValue(value: Json | undefined, options: RenderOptions = {}): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (options.delimiter !== undefined && Array.isArray(value)) {
    return value.map((item: Json) => renderValue(item)).join(options.delimiter);
  }
  return renderJson(value);
}

/**
 * Gives JSON text with `", "` and `": "` as separators and non-ASCII text unescaped, as Python's `json.dumps` writes it.
 *
 * @throws EngineError `TEMPLATE_TOO_LARGE` for values nested deeper than 512 levels.
 */
export function renderJson(value: Json): string {
  const out: string[] = [];
  write(value, out, 0);
  return out.join('');
}

/** Gives the text of a number as Python writes it: small fractions as `1e-05`, whole numbers without a fraction. */
export function renderNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const text = String(value);
  const magnitude = Math.abs(value);
  if (magnitude === 0 || magnitude >= 1e-4) return text;
  const [digits = '', exponent = ''] = value.toExponential().split('e-');
  return `${digits}e-${exponent.padStart(2, '0')}`;
}

function write(value: Json, out: string[], depth: number): void {
  if (value === null || typeof value !== 'object') {
    out.push(typeof value === 'number' ? renderNumber(value) : JSON.stringify(value));
    return;
  }
  if (depth >= MAX_DEPTH) {
    throw new EngineError(
      'TEMPLATE_TOO_LARGE',
      `A value is nested deeper than ${MAX_DEPTH} levels and cannot be written.`,
    );
  }
  if (Array.isArray(value)) writeList(value, out, depth);
  else writeObject(value as { readonly [key: string]: Json }, out, depth);
}

function writeList(list: readonly Json[], out: string[], depth: number): void {
  out.push('[');
  for (let i = 0; i < list.length; i++) {
    if (i > 0) out.push(', ');
    write(list[i] ?? null, out, depth + 1);
  }
  out.push(']');
}

function writeObject(object: { readonly [key: string]: Json }, out: string[], depth: number): void {
  out.push('{');
  let first = true;
  for (const [key, item] of Object.entries(object)) {
    if (item === undefined) continue;
    if (!first) out.push(', ');
    first = false;
    out.push(JSON.stringify(key), ': ');
    write(item, out, depth + 1);
  }
  out.push('}');
}
