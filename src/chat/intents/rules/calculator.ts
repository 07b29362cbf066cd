import { isArithmetic } from '../../../tools/everyday/arithmetic.js';
import { NOTHING, type ToolRule } from '../rule.js';
import { withSigns } from '../words/spoken-arithmetic.js';

/** Words that ask for a calculation. */
const VERB =
  /计算一下|计算(?!机|器|图|节点|资源|引擎|模块|属性|列|量|单元|逻辑|结果)|算一下|算一算|算算|算下|帮我算|求一下|(?:^|[^要推预估核换结])算(?!法|子|力|盘|式|术|了|是|什么|不)|\b(?:calculate|calc|compute|evaluate|work out|solve)\b/;
const BARE_VERB =
  /^(?:请|帮我|帮忙|麻烦|你|能|可以|please|can you|could you|help me)*\s*(?:计算一下|计算|算一下|算算|calculate|calc|do (?:some|a) (?:math|calculation))\s*(?:吧|吗|something|for me)*$/;

/** Words around an expression. */
const AROUND_ZH =
  /请问|麻烦你?|帮我|帮忙|给我|请|计算一下|计算器?|算一下|算一算|算算|算下|算|求一下|求|一下|等于多少|等于几|等于|是多少|为多少|得多少|得几|是几|有多少|多少|结果是?|的结果|的值|告诉我|我想知道|谢谢|再|看看|到底|那|呢|吗|啊|吧|呀|哦|你好|能不能|可以|能|你|口算|表达式|这道题|下面|以下|下/g;
const AROUND_EN =
  /\b(?:what's|whats|what is|what are|how much is|how much are|how much would|what would|what does|calculate|calc|compute|evaluate|work out|solve|find|give me|tell me|please|pls|could you|can you|would you|for me|the result of|the value of|the answer to|result|value|answer|equals?|is equal to|equal to|be|the|is|quickly|hey|hi|hello|thanks|thank you|just|do|me|help|with|math|this|of|expression|i need|i want|make|using the calculator|a calculator)\b/g;

/** What looks like a difference and is a date, a telephone number, a version or a range of a text. */
const NOT_A_SUM =
  /^\d{4}[-/]\d{1,2}[-/]\d{1,2}$|^\d+(?:-\d+){2,}$|^\d{3,4}-\d{7,8}$|^\d{1,2}\/\d{1,2}\/\d{2,4}$|^24\/7$|^\d+\.\d+\.\d+/;

/** At least one operation, or a function with its value. */
const HAS_OPERATION = /[\d)a-z%]\s*[+*/^]|[\d)%ie]\s*-|%\s*\(?\s*\d|[a-z]\(|^-\s*\(/;
/** The longest run of signs of arithmetic. */
const RUN = /(?:(?:sqrt|sin|cos|tan|log|ln|exp|pow|abs|round|floor|ceil|min|max|pi)\b|\be\b|[\d.+\-*/%^(),\s])+/g;

/** Recognises arithmetic, in signs and in words. */
export const calculatorRule: ToolRule = {
  tool: 'calculator',
  find({ lower, isAboutMaking }) {
    const isAsked = VERB.test(lower);
    const signs = withSigns(lower.replaceAll(/[一]下|[一]共|[一]个/g, ' '));
    const bare = expressionIn(
      signs
        .replaceAll(AROUND_ZH, ' ')
        .replaceAll(AROUND_EN, ' ')
        .replaceAll(/[?=:"'!。;]/g, ' '),
    );
    if (bare !== undefined && (isAsked || !NOT_A_SUM.test(bare))) return [{ args: { expression: bare } }];
    if (!isAsked || isAboutMaking) return BARE_VERB.test(lower) ? [{ args: {}, missing: ['expression'] }] : NOTHING;
    const run = longestRun(signs);
    if (run !== undefined) return [{ args: { expression: run } }];
    return BARE_VERB.test(lower) ? [{ args: {}, missing: ['expression'] }] : NOTHING;
  },
};

/** The whole text as an expression without blanks; undefined when it is none. */
function expressionIn(text: string): string | undefined {
  const blankless = text.trim();
  // Two numbers beside each other are no expression, and would become one number.
  if (blankless === '' || /\d\s+\d/.test(blankless) || !HAS_OPERATION.test(blankless)) return undefined;
  const compact = withoutGroups(
    blankless
      .replaceAll(' ', '')
      .replace(/^[,.]+/, '')
      .replace(/[,.]+$/, ''),
  );
  return isArithmetic(compact) ? compact : undefined;
}

function longestRun(signs: string): string | undefined {
  const runs = [...signs.matchAll(RUN)].map(([run]) => run).sort((a, b) => b.length - a.length);
  for (const run of runs.slice(0, 3)) {
    const found = expressionIn(run);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** 1,000 is 1000; in brackets of a function a comma stands between values. */
function withoutGroups(expression: string): string {
  if (/(?:min|max|pow|log|round)\(/.test(expression)) return expression;
  return expression.replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '');
}
