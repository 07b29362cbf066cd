import Handlebars from 'handlebars';
import { EngineError } from '../errors.js';

/** Deepest nesting of blocks, with their `else` chains; the parser's time grows with its cube. */
const MAX_BLOCKS = 200;

/** Deepest nesting of parentheses in one tag. */
const MAX_PARENTHESES = 50;

const OPEN = /^\{\{~?(?:[#^]\s*[^\s~}]|\{\{)/;
const CLOSE = /^\{\{~?\//;
const CHAIN = /^\{\{~?\s*else\s+[^\s~}]/;

/**
 * Parses a Handlebars template with Handlebars' own parser. Only text is accepted, never a tree from elsewhere.
 *
 * @throws EngineError `TEMPLATE_INVALID` with the line, `TEMPLATE_TOO_LARGE` for deep nesting.
 */
export function parseHandlebars(template: string): hbs.AST.Program {
  checkNesting(template);
  try {
    return Handlebars.parse(template);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const [first = ''] = message.split('\n');
    const line = Number(/\bline (\d+)/.exec(first)?.[1] ?? / - (\d+):\d+$/.exec(first)?.[1] ?? 1);
    const problem = /got '([A-Z_]+)'$/.exec(message)?.[1];
    const shown = problem === undefined ? first : `unexpected ${problem.toLowerCase().replaceAll('_', ' ')}`;
    throw new EngineError('TEMPLATE_INVALID', `Template line ${line}: ${shown}.`, { details: { line }, cause: thrown });
  }
}

/** Looks at the beginning of every tag; what a comment or raw block holds counts too, which errs on the safe side. */
function checkNesting(template: string): void {
  const open: number[] = [];
  let depth = 0;
  for (let at = template.indexOf('{{'); at !== -1; ) {
    const end = template.indexOf('}}', at);
    const tag = template.slice(at, end === -1 ? undefined : end + 2);
    const start = tag.slice(0, 64);
    if (OPEN.test(start)) {
      open.push(1);
      depth++;
    } else if (CLOSE.test(start)) {
      depth -= open.pop() ?? 0;
    } else if (CHAIN.test(start) && open.length > 0) {
      open.push((open.pop() ?? 0) + 1);
      depth++;
    }
    if (depth > MAX_BLOCKS) refuse(`${MAX_BLOCKS} levels of blocks`);
    if (parentheses(tag) > MAX_PARENTHESES) refuse(`${MAX_PARENTHESES} levels of parentheses`);
    at = end === -1 ? -1 : template.indexOf('{{', end);
  }
}

function parentheses(tag: string): number {
  let depth = 0;
  let most = 0;
  for (const char of tag) {
    if (char === '(') most = Math.max(most, ++depth);
    else if (char === ')') depth--;
  }
  return most;
}

function refuse(what: string): never {
  throw new EngineError('TEMPLATE_TOO_LARGE', `The Handlebars template has more than ${what}. Make it flatter.`);
}
