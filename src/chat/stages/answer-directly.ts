/** Stage 5: what the chat answers by itself (short circuit B). */
import type { Intent, SystemTopic } from '../intents/intent.js';
import { languageOf } from '../intents/utterance.js';
import type { DecisionResult } from './stage-result.js';

/** What the templates say of this chat. */
export interface DirectOptions {
  /** How the assistant calls itself. @default 'Runnel' */
  readonly name?: string;
}

type Template = (name: string) => string;

const TEMPLATES: Readonly<Record<SystemTopic, readonly [chinese: Template, english: Template]>> = {
  greeting: [
    (name) => `您好！我是 ${name} 助手。您可以向我提问，我会在知识库中查找答案，也可以查询天气、汇率、工单和销售额。`,
    (name) =>
      `Hello! I am the assistant of ${name}. Ask me anything about the documents here, or for the weather, exchange rates, tickets and sales.`,
  ],
  identity: [
    (name) => `我是 ${name} 的智能助手，根据知识库中的文档和工具的结果回答问题，并注明出处。`,
    (name) =>
      `I am the assistant of ${name}. I answer from documents and from tools, and say where an answer comes from.`,
  ],
  help: [
    () =>
      '我可以：\n1. 根据知识库回答问题，并给出引用；\n2. 查询天气、日期和时间、汇率；\n3. 做算术计算；\n4. 查询销售额和工单；\n5. 查看系统指标（QPS、延迟、CPU、内存）。\n例如：“北京明天天气怎么样”“100美元换多少人民币”“工单 TKT-1234 的状态”。',
    () =>
      'I can:\n1. answer questions from the knowledge base, with citations;\n2. tell the weather, the date and time, and exchange rates;\n3. calculate;\n4. look up sales and tickets;\n5. show metrics of the system (QPS, latency, CPU, memory).\nFor example: "weather in Oslo tomorrow", "convert 50 euros to yen", "what about ticket TKT-0042?".',
  ],
  thanks: [
    () => '不客气！如果还有其他问题，随时告诉我。',
    () => 'You are welcome! Let me know if there is anything else.',
  ],
};

/**
 * Answers from a template in the language of the message when every intent is SYSTEM; otherwise nothing.
 *
 * `detail`: `kind` (`greeting`, `identity`, `help`, `thanks`) of what was answered, else null.
 */
export function answerDirectly(
  intents: readonly Intent[],
  message: string,
  { name = 'Runnel' }: DirectOptions = {},
): DecisionResult {
  const [first] = intents;
  if (first === undefined || intents.some(({ kind }) => kind !== 'SYSTEM')) return { detail: { kind: null } };
  const topic = first.topic ?? 'help';
  const [chinese, english] = TEMPLATES[topic];
  const text = (languageOf(message) === 'zh' ? chinese : english)(name);
  return { answer: { text, reason: 'all that is said is for the assistant itself' }, detail: { kind: topic } };
}
