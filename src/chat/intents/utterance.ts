/** Words of a user, prepared for rules. */
import { withoutSlips } from './words/misspelt.js';

/** What rules read. */
export interface Utterance {
  /** In usual width (NFKC), each blank one space, without marks at its end. */
  readonly text: string;
  /** The same in lower case, without slips in words that rules look for. */
  readonly lower: string;
  readonly language: 'zh' | 'en';
  /** Whether it asks how something is made, defined or used, and not for the thing itself: "how is the weather tool implemented?". */
  readonly isAboutMaking: boolean;
  /** The tool of the part before, whose arguments alone this part may name: "and Shanghai?". */
  readonly follows?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Zone of the user, where it is known. */
  readonly timezone?: string;
}

/** What rules know beside the words. */
export interface UtteranceOptions {
  readonly now: number;
  readonly timezone?: string | undefined;
  readonly follows?: string | undefined;
  readonly language?: Utterance['language'] | undefined;
}

/** Prepares a text. Its length is not bounded here: see `MAX_RULED`. */
export function readUtterance(given: string, { now, timezone, follows, language }: UtteranceOptions): Utterance {
  const text = withoutEnd(plainText(given));
  const lower = withoutSlips(text.toLowerCase());
  return {
    text,
    lower,
    language: language ?? languageOf(text),
    isAboutMaking: ABOUT_MAKING_EN.test(lower) || ABOUT_MAKING_ZH.test(lower),
    now,
    ...(timezone !== undefined && { timezone }),
    ...(follows !== undefined && { follows }),
  };
}

/** In usual width, with one kind of quotes and single blanks. */
export function plainText(given: string): string {
  return given
    .normalize('NFKC')
    .replaceAll(/[“”„«»「」『』]/g, '"')
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/[\s\u200b\ufeff]+/g, ' ')
    .trim();
}

/** Chinese as soon as there is a Chinese character. */
export function languageOf(text: string): 'zh' | 'en' {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
}

/** Marks and the words of tone in front of them; a loop, for a pattern would try again from every mark. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && END_MARKS.has(text[end - 1] as string)) end -= 1;
  return text.slice(0, end);
}

const END_MARKS = new Set([...' ?!.。…~;,、:']);

/** Words of those who ask about the software itself. */
const ABOUT_MAKING_EN = new RegExp(
  [
    String.raw`\bimplement`,
    String.raw`\b(?:source|code|codebase|class|classes|module|architecture|schema|documentation|docs?|algorithm|definition|plugin|endpoint|component|node type|parameters?|config(?:ure|uration|ured)?|tutorial|repository|repo|unit tests?|file|files|library|framework|interface|pipeline|prompt)\b`,
    String.raw`\b(?:weather|sales|ticket|calculator|datetime|currency|metrics?|search|look-?up) (?:tools?|apis?|rules?|nodes?|service|feature|intent|table|system)\b`,
    String.raw`\bhow (?:does|do|did|can|could|should|would|to|might|must) (?!(?:the )?(?:sales|weather|revenue) )(?!.*\bcost\b)`,
    String.raw`\b(?:why|where)\b`,
    String.raw`\bexplain\b`,
    String.raw`\bdescribe\b`,
    String.raw`\bdifferences? between (?![\d(])`,
    String.raw`\bwhat (?:is|are) (?:an? )[a-z]+(?: [a-z]+)?$`,
    String.raw`\bwhat (?:does|do|happens|did)\b(?! we (?:sell|make|earn|take))`,
    String.raw`\b(?:mean|means|meaning)\b`,
    String.raw`\bhow (?:is|are|was|were) (?:the |a |an |our )?(?:\w+ ){0,4}(?:computed|calculated|measured|stored|handled|built|made|defined|parsed|tested|designed|routed|created|generated|used|processed|closed|opened|assigned|represented|recognised|recognized|detected|limited|counted|tracked|fetched|cached)\b`,
  ].join('|'),
);

const ABOUT_MAKING_ZH = new RegExp(
  [
    '实现|源码|源代码|代码|原理|架构|模块|接口|文档|定义|设计|插件|组件|节点|字段|表结构|数据结构|参数|配置|部署|教程|算法|流程|机制|为什么|为何|解释|介绍|什么是|区别|示例|例子|步骤|单元测试|函数|类型|权限|提示词|来源|从哪|哪里来|存在|存储|存到|哪张表|哪个表|数据源',
    '(?:天气|销售|工单|计算器?|时间|汇率|货币|指标|查询|搜索|检索)(?:的)?(?:工具|功能|服务|规则|系统|意图|表(?!现)|模型)',
    '怎么(?!样|了|这么|那么|还|回事|又)(?!\\s*算)',
    '如何(?=[^?？。!！,，\\s了呢啊吧])',
    '是什么(?!样|时|日|价|情况|天气)|是啥意思|什么意思|有什么用|干什么用',
  ].join('|'),
);
