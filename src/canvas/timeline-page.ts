/** A timeline as one page for a browser that asks nobody for anything else. */

import type { RunTimeline, TimelineActivation } from './run-timeline.js';
import { formatMs } from './time-axis.js';

/** Activations that are drawn; further ones are counted. */
const MAX_BARS = 5_000;

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--work:#4a7fd0;--text:#2f9e62;--bad:#d0453a;--wait:#9a5fd0;--skip:#999}
body{font:14px/1.45 system-ui,sans-serif;margin:2rem;max-width:120rem}
h1{font-size:1.2rem;margin:0 0 .3rem}p{margin:.2rem 0 1rem;color:GrayText}
.row{display:grid;grid-template-columns:minmax(8rem,16rem) 1fr minmax(6rem,12rem);gap:.8rem;align-items:center;border-top:1px solid var(--line);padding:.25rem 0}
.name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.note{color:GrayText;font-size:12px}
.track{position:relative;height:1.3rem}.bar,.dot{position:absolute;top:15%;height:70%;min-width:2px;border-radius:2px;background:var(--work);opacity:.85}
.dot{top:35%;height:30%;width:2px;background:var(--text);opacity:1}
.failed,.retried{background:var(--bad)}.waiting,.open{background:var(--wait)}.skipped{background:var(--skip)}
.error{color:var(--bad)}table{border-collapse:collapse;margin-top:2rem;font-size:12px}td,th{text-align:left;padding:.15rem .8rem .15rem 0;border-top:1px solid var(--line)}
`;

/** Makes the page; every text in it is escaped, and its policy lets it load nothing. */
export function timelinePage(timeline: RunTimeline, title: string): string {
  const { status, elapsedMs, error, usage, nodes, omitted } = timeline;
  const bars = timeline.activations.slice(0, MAX_BARS);
  const scale = scaleOf(timeline);
  const took = elapsedMs === undefined ? '' : ` after ${formatMs(elapsedMs)}`;
  const why = error === undefined ? '' : `<p class="error">${escaped(error.message)} [${escaped(error.code)}]</p>`;
  const left = omitted + timeline.activations.length - bars.length;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}: ${escaped(status)}${took}</h1>
<p>${nodes.length} nodes · ${usage.promptTokens} tokens in, ${usage.completionTokens} out · ${usage.calls} model calls${
    left > 0 ? ` · ${left} activations are not drawn` : ''
  }</p>${why}
${rowsOf(timeline, bars, scale)}
<table><thead><tr><th>Node</th><th>Within</th><th>Attempt</th><th>Status</th><th>Start</th><th>Took</th><th>Pieces</th><th>Error</th></tr></thead>
<tbody>${bars.map((one) => tableRow(one, scale)).join('\n')}</tbody></table>
</body></html>
`;
}

interface Scale {
  readonly from: number;
  readonly span: number;
}

function scaleOf({ startedAtMs: from = 0, endedAtMs, activations }: RunTimeline): Scale {
  let last = endedAtMs ?? from;
  for (const one of activations) last = Math.max(last, one.endedAtMs ?? one.startedAtMs);
  return { from, span: Math.max(1, last - from) };
}

function rowsOf({ nodes }: RunTimeline, bars: readonly TimelineActivation[], scale: Scale): string {
  const byNode = new Map<string, TimelineActivation[]>(nodes.map(({ node }) => [node, []]));
  for (const bar of bars) byNode.get(bar.node)?.push(bar);
  return nodes
    .map(({ node, name, type, busyMs, activations, usage }) => {
      const own = byNode.get(node) ?? [];
      const depth = Math.min(8, Math.floor((own[0]?.within?.split('/').length ?? 0) / 2));
      const tokens = usage.totalTokens > 0 ? `, ${usage.totalTokens} tokens` : '';
      const label = `<span class="name" style="padding-left:${depth}em" title="${escaped(`${type ?? ''} ${name ?? ''}`)}">${escaped(node)}</span>`;
      const track = own.map((one) => barOf(one, scale)).join('');
      const note = `<span class="note">${formatMs(busyMs)}${activations > 1 ? ` x${activations}` : ''}${tokens}</span>`;
      return `<div class="row">${label}<div class="track">${track}</div>${note}</div>`;
    })
    .join('\n');
}

function barOf(one: TimelineActivation, { from, span }: Scale): string {
  const percent = (ms: number): string => Math.min(100, Math.max(0, (ms / span) * 100)).toFixed(3);
  const end = one.endedAtMs ?? from + span;
  const title = `${one.node} ${one.status}, ${formatMs(one.elapsedMs ?? end - one.startedAtMs)}${one.error === undefined ? '' : `: ${one.error}`}`;
  const bar = `<span class="bar ${one.status}" style="left:${percent(one.startedAtMs - from)}%;width:${percent(end - one.startedAtMs)}%" title="${escaped(title)}"></span>`;
  const dots = one.emissions.map(({ kind, atMs, pieces, characters }) => {
    const said = `${kind}: ${pieces} pieces, ${characters} characters`;
    return `<span class="dot" style="left:${percent(atMs - from)}%" title="${escaped(said)}"></span>`;
  });
  return bar + dots.join('');
}

function tableRow(one: TimelineActivation, { from }: Scale): string {
  const pieces = one.emissions.reduce((sum, emission) => sum + emission.pieces, 0);
  const cells = [
    one.node,
    one.within ?? '',
    String(one.attempt),
    one.status,
    formatMs(one.startedAtMs - from),
    one.elapsedMs === undefined ? '' : formatMs(one.elapsedMs),
    String(pieces),
    one.error ?? '',
  ];
  return `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`;
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPED[character] ?? '');
}
