/** Marks that begin a part with examples. A passage that merely says "test" is not meant. */
const MARK = /(?:^|\n)[ \t#>*-]*(?:examples?[:：]|few-shot|scenario 1[:：]|示例)|→ kb/i;

/** What ends such a part: a heading of Markdown. */
const END = /\n#{1,6} /;

/** Where a text shows an example, in UTF-16 units; undefined where it marks none. */
export function exampleIn(text: string): { readonly from: number; readonly to: number } | undefined {
  const mark = MARK.exec(text);
  if (mark === null) return undefined;
  const behind = mark.index + mark[0].length;
  const end = END.exec(text.slice(behind));
  return { from: mark.index, to: end === null ? text.length : behind + end.index };
}
