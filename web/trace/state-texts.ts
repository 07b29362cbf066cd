/** What the state of a run is called. */
import { defineTexts } from '../shell/texts.js';

/** Bytes in the unit that people read them in. */
const megabytes = (bytes: number, language: string): string =>
  (bytes / 1024 ** 2).toLocaleString(language, { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export const stateTexts = defineTexts({
  en: {
    state: 'Values of the run',
    at: (seq: number) => `After event ${seq.toLocaleString('en')}`,
    outputs: 'outputs',
    variables: 'variables',
    input: 'input',
    tokens: 'At work and waiting',
    question: 'What it asks for',
    bodies: 'Open passes',
    omitted: 'Too large to be shown',
    bytes: (bytes: number) => `${megabytes(bytes, 'en')} MiB`,
    fromLog: 'The server could not be asked: what the events say is shown, which is without variables.',
  },
  zh: {
    state: '运行中的值',
    at: (seq: number) => `事件 ${seq.toLocaleString('zh')} 之后`,
    outputs: '输出',
    variables: '变量',
    input: '输入',
    tokens: '运行中与等待中',
    question: '它所请求的内容',
    bodies: '进行中的轮次',
    omitted: '过大而未显示',
    bytes: (bytes: number) => `${megabytes(bytes, 'zh')} MiB`,
    fromLog: '无法询问服务器：显示的是事件所含的内容，不包括变量。',
  },
});
