/** What the lines of a trace are called. */
import { defineTexts } from '../shell/texts.js';
import type { TraceRow } from './trace-rows.js';

/** The pass that only tells a body that no other one follows. */
export const CLOSING = 'closing';

export const traceTexts = defineTexts({
  en: {
    trace: 'Trace',
    name: 'Name',
    time: 'Time',
    tokens: 'Tokens',
    course: 'Course',
    unfold: 'Unfold',
    fold: 'Fold',
    several: (count: number) => `${count.toLocaleString('en')} activations`,
    mark: {
      text: 'text',
      thinking: 'thinking',
      usage: 'tokens reported',
      'message-ended': 'end of the message',
      audio: 'audio',
      notice: 'notice',
    },
    pieces: (count: number, characters: number) =>
      count === 1 ? '' : `, ${count.toLocaleString('en')} pieces, ${characters.toLocaleString('en')} characters`,
    after: (time: string) => `after ${time}`,
    none: 'Nothing has run yet.',
    label: ({ kind, label }: Pick<TraceRow, 'kind' | 'label'>) => {
      if (kind === 'pass') return label === CLOSING ? 'After the last pass' : `Pass ${placeOfRound(label)}`;
      return kind === 'try' ? `Time ${label}` : label;
    },
  },
  zh: {
    trace: '轨迹',
    name: '名称',
    time: '时间',
    tokens: '词元',
    course: '过程',
    unfold: '展开',
    fold: '折叠',
    several: (count: number) => `${count.toLocaleString('zh')} 次执行`,
    mark: {
      text: '文本',
      thinking: '思考',
      usage: '词元统计',
      'message-ended': '消息结束',
      audio: '音频',
      notice: '通知',
    },
    pieces: (count: number, characters: number) =>
      count === 1 ? '' : `，${count.toLocaleString('zh')} 段，${characters.toLocaleString('zh')} 个字符`,
    after: (time: string) => `第 ${time}`,
    none: '还没有运行。',
    label: ({ kind, label }: Pick<TraceRow, 'kind' | 'label'>) => {
      if (kind === 'pass') return label === CLOSING ? '最后一轮之后' : `第 ${placeOfRound(label)} 轮`;
      return kind === 'try' ? `第 ${label} 次` : label;
    },
  },
});

/** Rounds are counted from 0 in paths, and from 1 for people; others have names. */
export function placeOfRound(round: string): string {
  return /^\d+$/.test(round) ? String(Number(round) + 1) : round;
}
