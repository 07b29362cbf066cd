/** Patterns that models write: read by `re2js`, which takes time that is linear in the text, and never by JavaScript's own engine. */
import { EngineError } from '../../../errors.js';

/** Characters of a pattern. */
const MAX_PATTERN = 1_000;

/** Whether a text fits. */
export type Fits = (text: string) => boolean;

/** A pattern that is looked for anywhere in a line. @throws EngineError TOOL_ARGUMENTS */
export async function searchPattern(pattern: string, ignoreCase = false): Promise<Fits> {
  const compiled = await compile(pattern, pattern, ignoreCase);
  return (text) => compiled.matcher(text).find();
}

/** A pattern of paths: `*` and `?` stay in a folder, `**` does not, `{a,b}` is one of them. @throws EngineError TOOL_ARGUMENTS */
export async function globPattern(pattern: string): Promise<Fits> {
  const compiled = await compile(pattern, expressionOf(pattern), false);
  return (text) => compiled.matches(text);
}

function expressionOf(glob: string): string {
  let isInside = false;
  return glob.replace(/\*\*\/|\*\*|\*|\?|[{},]|[\s\S]/g, (piece) => {
    if (piece === '**/') return '(?:.*/)?';
    if (piece === '**') return '.*';
    if (piece === '*') return '[^/]*';
    if (piece === '?') return '[^/]';
    if (piece === '{' && !isInside) {
      isInside = true;
      return '(?:';
    }
    if (piece === '}' && isInside) {
      isInside = false;
      return ')';
    }
    if (piece === ',' && isInside) return '|';
    return /[A-Za-z0-9_/]/.test(piece) || piece > '\u007f' ? piece : `\\${piece}`;
  });
}

async function compile(given: string, expression: string, ignoreCase: boolean) {
  if (given === '' || given.length > MAX_PATTERN) {
    throw new EngineError('TOOL_ARGUMENTS', `A pattern has 1 to ${MAX_PATTERN} characters; received ${given.length}.`);
  }
  const { RE2JS } = await import('../../../knowledge/chunkers/re2js-library.js');
  try {
    return RE2JS.compile(expression, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The pattern ${JSON.stringify(given)} cannot be read: ${why}. Write it in the syntax of RE2: without references and look-around.`;
    throw new EngineError('TOOL_ARGUMENTS', message, { cause });
  }
}
