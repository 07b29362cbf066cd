/** What the inbox says. */
import { defineTexts } from '../shell/texts.js';
import type { Age, Kind } from './inbox.js';

export const inboxTexts = defineTexts({
  en: {
    title: 'Inbox',
    none: 'Nothing waits for you.',
    noneFound: 'Nothing like that waits.',
    why: 'Forms and approvals that agents ask for appear here.',
    cut: 'Of what waits, the newest 100 are looked at. Filters find more.',
    answer: 'Answer',
    asked: (time: string) => `asked ${time}`,
    fields: 'Asks for',
    kind: 'Asks for a',
    kinds: { form: 'form', approval: 'approval', other: 'something else' } satisfies Record<Kind, string>,
    user: 'User',
    age: 'Waits',
    ages: { hour: 'for more than an hour', day: 'for more than a day', week: 'for more than a week' } satisfies Record<
      Age,
      string
    >,
    anyTime: 'for any time',
    all: 'all',
    reset: 'Show all',
  },
  zh: {
    title: '待办',
    none: '没有等待您处理的内容。',
    noneFound: '没有符合条件的等待项。',
    why: '智能体请求的表单和审批会显示在这里。',
    cut: '仅查看最新的 100 项。使用筛选可找到更多。',
    answer: '回答',
    asked: (time: string) => `提问于 ${time}`,
    fields: '需要填写',
    kind: '请求类型',
    kinds: { form: '表单', approval: '审批', other: '其他' },
    user: '用户',
    age: '等待时长',
    ages: { hour: '超过 1 小时', day: '超过 1 天', week: '超过 1 周' },
    anyTime: '任意时长',
    all: '全部',
    reset: '显示全部',
  },
});
