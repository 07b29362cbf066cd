/** What to do about errors that users of an agent meet. */
import { defineTexts, type Texts } from '../shell/texts.js';

const NOTHING = defineTexts({ en: '', zh: '' });

const ADVICE: Readonly<Record<string, Texts<string>>> = {
  MODEL_UNAVAILABLE: defineTexts({
    en: 'Try again in a moment. If it stays so, see whether the provider of the model can be reached from the server.',
    zh: '请稍后重试。如果问题持续，请检查服务器能否访问模型提供方。',
  }),
  MODEL_UNKNOWN: defineTexts({
    en: 'Choose a model that the server knows, or add this one to its settings.',
    zh: '请选择服务器已知的模型，或将此模型加入服务器设置。',
  }),
  MODEL_REQUEST: defineTexts({
    en: 'See what the provider says above: often it is the key, the length of the question or a parameter of the model.',
    zh: '请查看上方提供方的说明：常见原因是密钥、问题长度或模型参数。',
  }),
  NODE_TIMEOUT: defineTexts({
    en: 'Try again, or give the node more time in its settings.',
    zh: '请重试，或在节点设置中延长时限。',
  }),
  RUN_TIMEOUT: defineTexts({
    en: 'The server ends runs that take too long (RUNNEL_RUN_TIMEOUT_MS).',
    zh: '服务器会终止耗时过长的运行（RUNNEL_RUN_TIMEOUT_MS）。',
  }),
  RUN_STEPS_EXCEEDED: defineTexts({
    en: 'Look for a loop without an end: the message names it.',
    zh: '请检查是否存在没有出口的循环：错误信息中已指出。',
  }),
  REFERENCE_UNRESOLVED: defineTexts({
    en: 'A field of the node refers to something that this run does not have. Choose it again from what comes before.',
    zh: '节点的某个字段引用了本次运行中不存在的内容。请从上游重新选择。',
  }),
  URL_BLOCKED: defineTexts({
    en: 'The server does not let agents reach this address. Its operator can allow it.',
    zh: '服务器不允许智能体访问此地址，可由运维人员放行。',
  }),
  RUN_LOST: defineTexts({
    en: 'Send the question again: the server was lost several times during this run.',
    zh: '请重新发送问题：本次运行期间服务器多次中断。',
  }),
};

/** What to do about an error; empty when its message has to be enough. */
export function adviceFor(code: string): Texts<string> {
  return Object.hasOwn(ADVICE, code) ? (ADVICE[code] as Texts<string>) : NOTHING;
}
