import { COURTESY, NOTHING, type ToolRule, without } from '../rule.js';
import { withNumbers } from '../words/spoken-arithmetic.js';

const METRICS: readonly (readonly [RegExp, string])[] = [
  [
    /qps|每秒(?:的)?(?:请求|查询)(?:数|量)?|请求(?:数|量|速率)|吞吐量?|\brps\b|\brequests? (?:per|a|each) second\b|\bqueries per second\b|\bthroughput\b|\brequest rate\b/g,
    'qps',
  ],
  [
    /延迟|延时|时延|响应时间|响应速度|响应耗时|\blatenc(?:y|ies)\b|\bresponse times?\b|\bp(?:50|90|95|99)\b|\bhow (?:slow|fast) (?:is|are) (?:the )?(?:server|system|service|api)\b/g,
    'latency',
  ],
  [/cpu|处理器|中央处理器|\bprocessor\b/g, 'cpu'],
  [/内存|\bmemory\b|\bram\b/g, 'memory'],
];

/** What is said around a number of the machine; anything more and it is about something else. */
const AROUND =
  /系统|服务器|服务端|服务|主机|机器|进程|本机|后端|平台|网站|接口|你们?|我们?|使用率|占用率|利用率|占用|使用量|使用情况|使用|利用|负载|情况|状况|状态|指标|数据|水平|值|平均|最大|最高|实时|用了|用掉|剩余|还剩|剩|高不高|高|低|大|快|慢|正常|百分之|百分比|怎么样|怎样|如何|什么样|多少|多大|多高|几|是|有|为|最近|过去|近|之内|以内|内|里|这|个|今天|监控|看|查|显示|在|用|吃|率|量|占|毫秒|秒|分钟|小时|的|\b(?:right|current|usage|used|use|using|uses|load|level|utili[sz]ation|consumption|percentage|percent|server'?s?|system'?s?|machine'?s?|process|service|host|this|that|the|is|are|was|what's|what|how|much|many|high|low|busy|of|on|for|in|at|over|during|within|our|your|its|it|average|avg|mean|peak|live|status|stats?|statistics|metrics?|figures?|numbers?|value|report|check|get|see|view|display|show|me|we|you|now|today|last|past|previous|minutes?|mins?|hours?|seconds?|secs?|doing|looking|like|left|free|available|being|do|does|have|has|there|a|an|api|backend|app|application|taking|consuming|running|whats|how's|currently|there|to|by|and|consumed|eating|handling|getting|gets?|serving)\b|[\d%]/g;

/** Words after which it is not about this machine's numbers. */
const OTHER =
  /会话|对话|记忆|泄漏|泄露|溢出|存储|数据库|索引|缓存|模式|队列|消息|管理|优化|降低|减少|提高|提升|增加|排查|限制|上限|要求|需要|型号|架构|核心|指令|\b(?:store|stores|leak|leaks|limit|limits|conversation|session|chat|reduce|lower|improve|increase|optimi[sz]e|requirements?|needs?|cores?|instruction|cache|index|require[ds]?|long[- ]term|short[- ]term|window|summary|first token|token|stage|model|bound|bounded|budget|lane|foam)\b/;

const WINDOW_ZH = /(?:最近|过去|近|前)(?:的)?\s*(\d{1,4}|半)?\s*(?:个)?\s*(秒钟?|分钟?|小时|钟头)/;
const WINDOW_EN =
  /\b(?:last|past|previous|over|within the last|recent)\s+(?:the\s+(?:last|past)\s+)?(\d{1,4}|half an|an|a)?\s*-?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b/;

/** Recognises questions about how busy this server is. */
export const systemMetricsRule: ToolRule = {
  tool: 'system_metrics',
  find({ lower, isAboutMaking, follows }) {
    const found = METRICS.filter(([pattern]) => new RegExp(pattern.source).test(lower));
    if (found.length === 0 || OTHER.test(lower)) return NOTHING;
    const window = windowIn(withNumbers(lower));
    const left = without(lower, ...found.map(([pattern]) => pattern), AROUND, ...COURTESY);
    if (left.replaceAll(/[^\p{L}]/gu, '').length > 1) return NOTHING;
    // "API latency" and "接口延迟" are asked of the server, although those words stand for how it is made elsewhere.
    const isName =
      /^(?:[a-z ]+|\p{Script=Han}+)$/u.test(lower) &&
      !/什么|怎么|如何实现|\bhow do|\bwhy\b|\bwhat does\b|\bwhat is (?:cpu|memory|latency|ram|qps|throughput)$/.test(
        lower,
      );
    if (isAboutMaking && !isName) return NOTHING;
    if (
      follows === undefined &&
      /^what(?:'s| is| are) (?:an? )?(?:cpu|memory|latency|ram|qps|throughput)$|^(?:什么是|啥是)/.test(lower)
    )
      return NOTHING;
    return found.map(([, metric]) => ({ args: { metric, ...(window !== undefined && { window }) } }));
  },
};

function windowIn(text: string): string | undefined {
  const chinese = WINDOW_ZH.exec(text);
  if (chinese !== null)
    return windowOf(
      chinese[1],
      (chinese[2] ?? '').startsWith('秒') ? 's' : (chinese[2] ?? '').startsWith('分') ? 'm' : 'h',
    );
  const english = WINDOW_EN.exec(text);
  return english === null ? undefined : windowOf(english[1]?.replace('half an', '半'), (english[2] ?? 'm')[0] ?? 'm');
}

function windowOf(size: string | undefined, unit: string): string {
  if (size === '半') return unit === 'h' ? '30m' : '30s';
  const count = Number(size);
  return `${Number.isFinite(count) && count > 0 ? count : 1}${unit}`;
}
