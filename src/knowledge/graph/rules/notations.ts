/** Relations that design papers write with signs: stages that lead to shortcuts, what layers hold, priorities. */
import type { Span } from './sentences.js';
import type { StatedRelation } from './stated-relation.js';

const ARROW = '\\s*(?:->|=>|→|⇒|—>|:|：|leads?\\s+to|jumps?\\s+to|takes?|触发|进入)\\s*';

const STAGE = '(?:Stage|阶段)\\s*(?:\\d+|[A-Z]|[一二三四五六七八九十])|第[一二三四五六七八九十\\d]+阶段';
const SHORTCUT = '(?:Shortcut|短路)\\s*[A-Z\\d]';
const LAYER = 'Layer\\s+(?:\\d+|[A-Z])|L\\d|第[一二三四五六七八九十\\d]+层';

const STAGE_SHORTCUT = new RegExp(`(${STAGE})${ARROW}(${SHORTCUT})(?![\\p{L}\\p{N}])`, 'giu');
const LAYER_DEFINITION = new RegExp(
  `(?:^|[|│\\s])(${LAYER})\\s*(?:[:：=—–-]|\\s是|是|\\sis(?:\\s+the)?|\\s)\\s*([\\p{L}][^|│\\n(（,，。;；:：]{0,40})(?:[(（]([^)）\\n]{1,120})[)）])?`,
  'giu',
);
const PRIORITY_BEFORE = /(?:^|[|│\s(（[])(P[0-4])[\])）]?\s*(?:[:：]|-|–|—)\s*([^|│\n,，。.;；:：]{2,60})/gu;
const PRIORITY_BEHIND =
  /([\p{L}\p{N}][\p{L}\p{N} _./-]{1,50}?)\s*(?:[(（[](P[0-4])[)）\]]|(?:\s(?:has|is|with)\s+(?:a\s+)?(?:priority\s+)?|的?优先级(?:是|为)\s*)(P[0-4])(?![\p{L}\p{N}]))/gu;

/** The four notations; they count in any sentence, as they are no statements of grammar. */
export function notedRelations({ text }: Span): StatedRelation[] {
  const stated: StatedRelation[] = [];
  for (const [, stage = '', shortcut = ''] of text.matchAll(STAGE_SHORTCUT))
    stated.push({ source: plain(stage), relation: 'leads_to', target: plain(shortcut) });
  for (const [, layer = '', name = '', parts = ''] of text.matchAll(LAYER_DEFINITION)) {
    if (isVerb(name)) continue;
    stated.push({ source: plain(layer), relation: 'is_a', target: plain(name) });
    for (const part of parts.split(/\s*(?:\+|,|，|、|\/)\s*/))
      if (part.trim().length > 1) stated.push({ source: plain(layer), relation: 'includes', target: plain(part) });
  }
  for (const [, priority = '', name = ''] of text.matchAll(PRIORITY_BEFORE))
    stated.push({ source: plain(name), relation: 'has_priority', target: priority });
  for (const [, name = '', one, other] of text.matchAll(PRIORITY_BEHIND))
    stated.push({ source: plain(name), relation: 'has_priority', target: one ?? other ?? '' });
  return stated.filter(({ source, target }) => source !== '' && target !== '' && source !== target);
}

function plain(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^(?:the|a|an)\s+/i, '');
}

/** Whether a sentence goes on behind a layer, as in "Layer 2 uses Redis". */
function isVerb(name: string): boolean {
  return /^(?:\p{Ll}+s\b|is\b|are\b|was\b|has\b|and\b|or\b|to\b|in\b|of\b|for\b|with\b|和|与|使用|包含|支持|依赖|负责|的|被)/u.test(
    name.trim(),
  );
}
