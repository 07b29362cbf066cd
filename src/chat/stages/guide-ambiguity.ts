/** Stage 4: asks back when it is not clear what is meant (short circuit A). */
import type { Intent } from '../intents/intent.js';
import { languageOf } from '../intents/utterance.js';
import type { DecisionResult } from './stage-result.js';

/** Below it the surest intent is not sure enough, and two of different kinds must be further apart than that (design, section 2.3). */
const LEAST_CONFIDENCE = 0.7;
const LEAST_MARGIN = 0.15;
/** What 0.85 - 0.7 may be off by. */
const ROUNDING = 1e-9;
const MAX_OPTIONS = 4;

/** Options by kind and tool, as a user reads them. */
const OPTIONS: Readonly<Record<string, readonly [chinese: string, english: string]>> = {
  KB: ['在知识库中查找答案', 'Look for an answer in the knowledge base'],
  SYSTEM: ['了解这个助手', 'Learn about this assistant'],
  weather: ['查询天气', 'Ask for the weather'],
  sales: ['查询销售额', 'Ask for sales'],
  ticket: ['查询工单', 'Look up tickets'],
  calculator: ['进行计算', 'Calculate something'],
  datetime: ['查询日期和时间', 'Ask for the date and time'],
  currency: ['换算货币', 'Convert currencies'],
  system_metrics: ['查看系统指标', 'See the metrics of the system'],
  knowledge_lookup: ['在文档中搜索', 'Search the documents'],
};

/** Questions for arguments. */
const QUESTIONS: Readonly<Record<string, readonly [chinese: string, english: string]>> = {
  city: ['您想查询哪个城市的天气？', 'Which city do you mean?'],
  period: [
    '您想查询哪个时间段，例如第一季度、上个月或今年？',
    'Which period do you mean, such as Q1, last month or this year?',
  ],
  expression: ['请告诉我要计算的算式。', 'What should be calculated?'],
  from: ['您想从哪种货币换算？', 'Which currency should be converted?'],
  to: ['您想换算成哪种货币？', 'Into which currency should it be converted?'],
  query: ['您想搜索什么？', 'What should I look for?'],
  metric: ['您想查看哪个指标：QPS、延迟、CPU 还是内存？', 'Which metric do you mean: QPS, latency, CPU or memory?'],
};

/**
 * Asks back when the surest intent has a confidence below 0.7, when the surest two are of different kinds, about the same words and less than 0.15 apart, or
 * when all that is asked for is a tool without what it needs.
 *
 * `detail`: `confidence` (of the surest), `margin` (to the next of another kind; 1 without one), `options` (up to four).
 */
export function guideAmbiguity(intents: readonly Intent[], message: string): DecisionResult {
  const [first] = intents;
  const side = languageOf(message) === 'zh' ? 0 : 1;
  if (first === undefined) return { detail: { confidence: 0, margin: 0, options: [] } };
  // Parts of one message are several requests, and no rivals.
  const rival = intents.find(({ kind, text }) => kind !== first.kind && text === first.text);
  const margin = rival === undefined ? 1 : Math.max(0, first.confidence - rival.confidence);
  const about = { confidence: first.confidence, margin: Math.round(margin * 1_000) / 1_000 };
  const isUnsure = first.confidence < LEAST_CONFIDENCE;
  if (isUnsure || (rival !== undefined && margin < LEAST_MARGIN - ROUNDING)) {
    const options = optionsOf(intents, side);
    const reason = isUnsure
      ? `the surest intent has a confidence of ${first.confidence}, below ${LEAST_CONFIDENCE}`
      : `the surest two intents are ${about.margin} apart, less than ${LEAST_MARGIN}`;
    return { answer: { text: askOf(options, side), reason }, detail: { ...about, options } };
  }
  const missing = intents.flatMap((intent) => intent.missing ?? []);
  const isIncomplete = intents.every((intent) => intent.missing !== undefined && intent.missing.length > 0);
  if (!isIncomplete) return { detail: { ...about, options: [] } };
  const reason = `the tool ${first.tool ?? ''} needs ${missing.join(' and ')}`;
  const text = [...new Set(missing)].map((name) => questionOf(name, side)).join(side === 0 ? '' : ' ');
  return { answer: { text, reason }, detail: { ...about, options: [] } };
}

/** What was thought of, and the usual ways on where that is too little. */
function optionsOf(intents: readonly Intent[], side: 0 | 1): string[] {
  const thought = intents.map(({ kind, tool }) => optionOf(tool ?? kind, side));
  return [...new Set([...thought, optionOf('KB', side), optionOf('SYSTEM', side)])].slice(0, MAX_OPTIONS);
}

function optionOf(name: string, side: 0 | 1): string {
  const known = Object.hasOwn(OPTIONS, name) ? OPTIONS[name]?.[side] : undefined;
  return known ?? (side === 0 ? `使用工具 ${name}` : `Use the tool ${name}`);
}

function questionOf(name: string, side: 0 | 1): string {
  const known = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name]?.[side] : undefined;
  return known ?? (side === 0 ? `请提供“${name}”。` : `Please give "${name}".`);
}

function askOf(options: readonly string[], side: 0 | 1): string {
  const lines = options.map((option, at) => `${at + 1}. ${option}`).join('\n');
  return side === 0
    ? `我不太确定您的意思。您是想：\n${lines}`
    : `I am not sure what you mean. Would you like to:\n${lines}`;
}
