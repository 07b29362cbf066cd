/** What a user says as parts, each of which may ask for something else. */

/** Words that begin another part. */
const JOINTS =
  /(?:,|;)? ?(?:\band then\b|\bthen\b(?= (?:what|how|calculate|convert|show|tell|find|search|give|check))|\band also\b|\balso\b(?=,? (?:what|how|calculate|convert|show|tell|find|search|give|check|is|the))|\bplus tell\b|\band\b(?= (?:what|what's|how|how's|calculate|compute|convert|show|tell|find|search|give|check|look up|is it|is there|also|the weather|the time|who|when|where|which|list)\b)|\band\b(?= [\d(]+ ?[-+*/^x×÷])|\bas well as\b(?= (?:the|what|how))|然后|接着|另外|此外|顺便|同时|还有就?是?|并且|并(?=[算查看告搜把])|再(?=[算查看告搜帮问报给]|计算|搜索|查询)|(?:以及|和|跟)(?=.{0,8}(?:天气|汇率|几点|工单|销售))|以及(?=.{0,8}(?:多少|是什么|怎么)))/g;

/** Parts of one text at most. */
const MAX_PARTS = 12;

/**
 * Splits a text in usual width at marks and at words such as "and then" and 再; not inside numbers, quotes and brackets. Marks between parts are gone.
 */
export function splitParts(text: string): readonly string[] {
  const cut = text.replaceAll(JOINTS, (joint) => (/^\s*$/.test(joint) ? joint : '\n'));
  const parts: string[] = [];
  let depth = 0;
  let isQuoted = false;
  let start = 0;
  for (let at = 0; at < cut.length; at += 1) {
    const sign = cut[at] as string;
    if (sign === '"') isQuoted = !isQuoted;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth = Math.max(0, depth - 1);
    else if (sign === '\n' || (depth === 0 && !isQuoted && isBorder(cut, at))) {
      parts.push(cut.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(cut.slice(start));
  const filled = parts.map((part) => part.trim()).filter((part) => /[\p{L}\p{N}]/u.test(part));
  return filled.length > MAX_PARTS ? [text] : filled;
}

/** A part at each of its words for "and", of which it has three at most; else whole. */
export function splitAtAnd(part: string): readonly string[] {
  const pieces = part.split(/ (?:and|plus|&) |以及|还有|[和与跟]/i).map((piece) => piece.trim());
  return pieces.length > 4 || pieces.includes('') ? [part] : pieces;
}

function isBorder(text: string, at: number): boolean {
  const sign = text[at] as string;
  if (';?!。'.includes(sign)) return sign !== '!' || !/\d/.test(text[at - 1] ?? '');
  const [before, after] = [text[at - 1] ?? '', text[at + 1] ?? ''];
  if (sign === ',') return !(/\d/.test(before) && /\d/.test(after));
  return (
    sign === '.' &&
    after === ' ' &&
    /[a-z\p{Script=Han})]/iu.test(before) &&
    !/\b(?:st|dr|mr|mrs|vs|no|u\.s)$/i.test(text.slice(Math.max(0, at - 4), at))
  );
}
