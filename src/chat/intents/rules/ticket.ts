import { NOTHING, type ToolRule } from '../rule.js';

const ASKED = /工单|服务单|\btickets?\b/;

/** Tickets of other kinds, and what is done with tickets instead of asked. */
const OTHER =
  /(?:火车|电影|机|门|车|船|球|演唱会)票|\b(?:train|movie|flight|plane|bus|lottery|concert|parking|speeding|airline|season|cinema|theatre|theater) tickets?\b|ticket(?:master| price| office)|\b(?:buy|book|purchase) .{0,20}tickets?\b/;
const DOING =
  /(?:创建|新建|提交|新增|提一个|开一个|建一个|删除|修改|分配|转派)(?:一个|个)?.{0,6}工单|\b(?:create|open a|open an|submit|file a|raise|delete|assign|reopen|update) .{0,16}tickets?\b/;

/** With its number: TKT-1234, ticket #1234, 工单1234. */
const NUMBER = /\btkt[-_ #:]{0,2}(\d{1,12})(?!\d)|(?:^|[^a-z])tkt[-_ #:]{0,2}(\d{1,12})(?!\d)/;
const BARE_NUMBER =
  /(?:\btickets?|工单号?码?|服务单)\s*(?:number|no\.?|id|号|编号|是|为)?\s*[#:]?\s*(\d{2,12})(?!\d)(?!\s*(?:个|张|条|天))|(?:编号|#|号)\s*[为是:]?\s*(\d{2,12})(?:号)?的?(?:那个)?(?:工单|服务单|\s*ticket)|(\d{2,12})号(?:工单|服务单)/;

/** What is not closed comes before what is. */
const STATUSES: readonly (readonly [RegExp, string])[] = [
  [
    /未关闭|未关|没关|没有关|未完成|没完成|没有完成|未解决|没解决|没有解决|未处理|没处理|没有处理|待处理|待解决|待办|未结|尚未|还没|打开|开着|开启|新建的|活跃|\bnot (?:yet )?(?:closed|resolved|done|finished)\b|n't (?:closed|resolved|done|been closed|been resolved)\b|\b(?:open|opened|unresolved|unclosed|unsolved|unfinished|outstanding|pending|active|remaining)\b/,
    'open',
  ],
  [
    /进行中|处理中|正在处理|在处理|跟进中|\bin[- ]progress\b|\bongoing\b|\bbeing worked on\b|\bbeing handled\b|\bunder way\b/,
    'in_progress',
  ],
  [
    /已关闭|已关|关闭|关掉|已完成|完成|已解决|解决|已处理|处理完|结束|已结|\b(?:closed|resolved|solved|finished|completed|done)\b/,
    'closed',
  ],
];

/** What is left of a list of all: 列出所有工单, show my tickets. */
const LISTED =
  /查|看|列|显示|有哪些|有几|多少|所有|全部|我的|状态|情况|列表|\b(?:show|list|see|view|get|check|display|find|all|my|our|any|how many|which|what|status|are there)\b/;

/** Recognises tickets by their number or their status. */
export const ticketRule: ToolRule = {
  tool: 'ticket',
  find({ lower, isAboutMaking, follows }) {
    const number = NUMBER.exec(lower);
    const digits = number?.[1] ?? number?.[2];
    if (digits !== undefined) return [{ args: { id: `TKT-${digits}` } }];
    const isAsked = ASKED.test(lower) || follows === 'ticket';
    if (!isAsked || isAboutMaking || OTHER.test(lower) || DOING.test(lower)) return NOTHING;
    const bare = BARE_NUMBER.exec(lower)
      ?.slice(1)
      .find((one) => one !== undefined);
    if (bare !== undefined) return [{ args: { id: `TKT-${bare}` } }];
    const status = STATUSES.find(([pattern]) => pattern.test(lower))?.[1];
    if (status !== undefined) return [{ args: { status } }];
    return follows !== 'ticket' && (LISTED.test(lower) || /^(?:工单|tickets?)$/.test(lower)) ? [{ args: {} }] : NOTHING;
  },
};
