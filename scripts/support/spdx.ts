/** A licence expression, parsed: one licence, or several joined by AND or OR. */
export type LicenceExpression =
  | { readonly kind: 'licence'; readonly id: string }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly LicenceExpression[] };

const TOKEN = /\s*(\(|\)|[A-Za-z0-9.:+-]+)/y;

/**
 * Parses an SPDX licence expression (SPDX specification, annex "SPDX license expressions"): AND binds tighter than OR, and
 * a WITH clause, which only ever grants more, is dropped. Gives undefined for anything else, such as a sentence.
 */
export function parseLicence(text: string): LicenceExpression | undefined {
  const tokens = tokenise(text);
  if (tokens === undefined) return undefined;
  let head = 0;
  const take = (word: string): boolean => {
    if (tokens[head]?.toUpperCase() !== word) return false;
    head += 1;
    return true;
  };
  const one = (): LicenceExpression | undefined => {
    if (take('(')) {
      const inner = joined('or');
      return take(')') ? inner : undefined;
    }
    const id = tokens[head];
    if (id === undefined || /^(?:\)|AND|OR|WITH)$/i.test(id)) return undefined;
    head += 1;
    if (take('WITH')) head += 1;
    return { kind: 'licence', id };
  };
  const joined = (kind: 'and' | 'or'): LicenceExpression | undefined => {
    const parts: LicenceExpression[] = [];
    do {
      const part = kind === 'or' ? joined('and') : one();
      if (part === undefined) return undefined;
      parts.push(part);
    } while (take(kind.toUpperCase()));
    return parts.length === 1 ? parts[0] : { kind, parts };
  };
  const expression = joined('or');
  return head === tokens.length ? expression : undefined;
}

/** Whether `expression` can be met by licences that `accepts` takes: every part of an AND, any part of an OR. */
export function satisfies(expression: LicenceExpression, accepts: (id: string) => boolean): boolean {
  if (expression.kind === 'licence') return accepts(expression.id);
  const meets = (part: LicenceExpression): boolean => satisfies(part, accepts);
  return expression.kind === 'and' ? expression.parts.every(meets) : expression.parts.some(meets);
}

function tokenise(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  const source = text.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const token = TOKEN.exec(source)?.[1];
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
}
