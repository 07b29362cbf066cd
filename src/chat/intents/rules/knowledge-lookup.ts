import { NOTHING, type ToolRule } from '../rule.js';

/** Words in front of the verb. */
const BEFORE_ZH =
  /^(?:请问|麻烦你?|劳驾|请你?|帮我|帮忙|给我|替我|我想要?|我要|能不能|能否|可以|你能|能|去|再|那|在?(?:知识库|文档|资料库|资料|库|数据集)(?:里面?|中)?(?:帮我)?|[, ])+/;
const VERB_ZH =
  /^(?:搜索|检索|查找|查询|查阅|搜寻|搜一搜|搜|查一查|查查|查|找一找|找找|找)(一下|下)?\s*(?:(?:知识库|文档|资料库|资料|数据集)(?:里面?|中)?(?:的|有关|关于)?|(?:有关|关于))?\s*[:"]?\s*(.+)$/;
const VERB_EN =
  /^(?:(?:please|pls|can you|could you|would you|will you|i want to|i'd like to|i need to|let's|help me|just|now|then|and|also|,) ?)*(?:(?:do|run|make) a (?:quick )?(?:search|look-?up) (?:for|on|of|about)|search|look ?up|lookup|find|query|retrieve|look for|search for)\b\s*(?:me\s+)?(?:(?:in |through |within )?(?:the |our |your )?(?:documents|docs|documentation|knowledge base|knowledge|kb|datasets?|files|manual)\b\s*)?(?:for|about|on|:|up)?\b\s*(.+)$/;
const BARE =
  /^(?:请|帮我|please|can you|could you)*\s*(?:搜索|检索|查找|查询|search|look ?up|find)\s*(?:一下|for|something)?$/;

/** Nouns that begin like the verb. */
const NOUN_ZH =
  /^(?:查询(?:改写|重写|语句|语言|参数|计划|扩展|优化|向量|接口|条件|结果)|搜索(?:引擎|框|结果|功能|算法|接口|模式|词)|检索(?:增强|通道|器|流程|结果|算法|阶段|模块|策略|质量)|查找(?:表|算法)|查重|找不到)/;
const NOUN_EN =
  /^(?:search (?:engines?|results?|index|queries|quality|box|modes?|is|does|are|works?)|query (?:rewrit|expan|stage|param|language|plan|string)|lookup tables?|find out (?:why|how|if|whether)|retrieval\b)/;

/** An answer is asked for and no passages, unless the verb is marked (一下, a blank, quotes). */
const QUESTION_ZH = /是什么|怎么|如何|为什么|多少|几个|有哪些|吗$|哪个|哪些|哪里|能不能|是不是|有没有/;

/** Behind what is looked for. */
const AFTER =
  /(?:的(?:相关)?(?:资料|文档|内容|信息|说明))$|相关的?(?:资料|文档|内容|信息|说明)?$|(?:,? ?(?:please|pls|thanks|thank you|谢谢|好吗|可以吗|行吗|吧|呢))$|(?: (?:in|from) (?:the |our |your )?(?:docs|documents|documentation|knowledge base|kb|manual|datasets?))$/;

/** Recognises orders to look something up, and takes what is to be looked for out of them. */
export const knowledgeLookupRule: ToolRule = {
  tool: 'knowledge_lookup',
  find({ text }) {
    if (BARE.test(text.toLowerCase())) return [{ args: {}, missing: ['query'] }];
    const query = chineseQuery(text) ?? englishQuery(text);
    return query === undefined ? NOTHING : [{ args: { query } }];
  },
};

function chineseQuery(text: string): string | undefined {
  const order = text.replace(BEFORE_ZH, '');
  if (NOUN_ZH.test(order)) return undefined;
  const found = VERB_ZH.exec(order);
  if (found === null) return undefined;
  const isMarked = found[1] !== undefined || /^\S{1,3}[\s:"]/.test(order);
  const query = clean(found[2] ?? '');
  if (query === '' || (!isMarked && QUESTION_ZH.test(query))) return undefined;
  // 找 and 查 alone are too common for words that only stand behind them.
  return /^(?:找|查)(?![找查询一])/.test(order) && query.length < 2 ? undefined : query;
}

function englishQuery(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (NOUN_EN.test(lower)) return undefined;
  const found = VERB_EN.exec(lower);
  if (found === null || found[1] === undefined) return undefined;
  const at = lower.length - found[1].length;
  const query = clean(text.slice(at));
  return query === '' ? undefined : query;
}

function clean(given: string): string {
  let query = given.trim();
  for (let round = 0; round < 3; round += 1) query = query.replace(AFTER, '').trim();
  query = query.replace(/^["'\s:]+/, '').replace(/["'\s.?!]+$/, '');
  return query.replaceAll('"', '');
}
