/** The kinds of entities: each has a colour of `tokens.css` and a name; what users add shares one. */
import type { ENTITY_TYPES } from '../../src/knowledge/graph/facts.js';
import { defineTexts } from '../shell/texts.js';

export const ENTITY_KINDS = [
  'technology',
  'concept',
  'stage',
  'shortcut',
  'storage',
  'framework',
  'model',
  'layer',
  'priority',
  'tool',
  'metric',
] as const satisfies readonly EntityKind[];
export type EntityKind = (typeof ENTITY_TYPES)[number];

export const kindTexts = defineTexts({
  en: {
    technology: 'Technology',
    concept: 'Concept',
    stage: 'Stage',
    shortcut: 'Shortcut',
    storage: 'Storage',
    framework: 'Framework',
    model: 'Model',
    layer: 'Layer',
    priority: 'Priority',
    tool: 'Tool',
    metric: 'Metric',
  } satisfies Record<EntityKind, string> as Readonly<Record<string, string>>,
  zh: {
    technology: '技术',
    concept: '概念',
    stage: '阶段',
    shortcut: '短路',
    storage: '存储',
    framework: '框架',
    model: '模型',
    layer: '层',
    priority: '优先级',
    tool: '工具',
    metric: '指标',
  },
});

/** Name of the colour of a kind, behind `--entity-`. */
export function colourOf(type: string): EntityKind | 'other' {
  return ENTITY_KINDS.find((kind) => kind === type) ?? 'other';
}

/** Texts of documents may be of any length: a name as a line can hold it. */
export function shortName(name: string, most = 60): string {
  const letters = Array.from(name.slice(0, 2 * most + 2));
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join('')}…`;
}

/** A text by a name that documents or users may have made up; the name itself where there is none. */
export function namedText(texts: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(texts, name) ? (texts[name] ?? name) : name;
}
