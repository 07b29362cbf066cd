/** Which screen an address shows, and how its files are loaded: a line for each. What stands here comes with the first file of the page. */
import type { ComponentType } from 'react';
import { parse } from 'regexparam';
import type { EarlyQuestion } from './api/client.js';
import { firstQuestions } from './run/first-questions.js';

/** A screen of the page. */
export interface Screen {
  /** Its address, for the router: `:name` stands for a part, `*` for all that follows, and what has a `?` may be missing. */
  readonly path: string;
  readonly load: () => Promise<ComponentType>;
  /** What it asks the server first, which need not wait for its files. @default nothing */
  readonly asks?: (path: string) => readonly EarlyQuestion[];
}

export const SCREENS: readonly Screen[] = [
  { path: '/agents', load: async () => (await import('./agents/agents-page.js')).AgentsPage },
  { path: '/agents/:agent/compare', load: async () => (await import('./debug/compare-page.js')).ComparePage },
  { path: '/agents/:agent/versions', load: async () => (await import('./versions/versions-page.js')).VersionsPage },
  { path: '/agents/:agent/*?', load: async () => (await import('./run/run-page.js')).RunPage, asks: firstQuestions },
  { path: '/runs', load: async () => (await import('./runs/runs-page.js')).RunsPage },
  { path: '/sessions', load: async () => (await import('./sessions/sessions-page.js')).SessionsPage },
  { path: '/inbox', load: async () => (await import('./inbox/inbox-page.js')).InboxPage },
  { path: '/chat/:kind?/:id?', load: async () => (await import('./stages/stages-page.js')).StagesPage },
  { path: '/datasets', load: async () => (await import('./datasets/datasets-page.js')).DatasetsPage },
  {
    path: '/datasets/:dataset/documents/:document',
    load: async () => (await import('./datasets/document-page.js')).DocumentPage,
  },
  { path: '/datasets/:dataset/:tab?', load: async () => (await import('./datasets/dataset-page.js')).DatasetPage },
  { path: '/graph/:dataset', load: async () => (await import('./graph/graph-page.js')).GraphPage },
  { path: '/research/:run?', load: async () => (await import('./research/research-page.js')).ResearchPage },
  { path: '/evaluations', load: async () => (await import('./evaluation/evaluation-page.js')).EvaluationPage },
  { path: '/settings', load: async () => (await import('./settings/settings-page.js')).SettingsPage },
];

/** The screen of an address, such as `/agents/a1/runs/r1`, as the router reads it, which comes later. */
export function screenAt(path: string): Screen | undefined {
  return SCREENS.find((screen) => parse(screen.path).pattern.test(path));
}
