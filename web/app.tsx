/** Which screen an address shows. Screens are loaded when they are opened first. */
import { type ComponentType, lazy, Suspense } from 'react';
import { Redirect, Route, Router, Switch } from 'wouter';
import { useHashPath, useHashQuery } from './parts/location.js';
import { EmptyNote, LoadingNote } from './parts/notes.js';
import { Failures } from './shell/failures.js';
import { Frame } from './shell/frame.js';
import { Login } from './shell/login.js';
import { defineTexts, useTexts } from './shell/texts.js';

const texts = defineTexts({
  en: { nowhere: 'There is nothing at this address.' },
  zh: { nowhere: '此地址没有内容。' },
});

/** Each address with the screen that it shows: a line for each. */
const SCREENS: readonly (readonly [path: string, screen: ComponentType])[] = [
  ['/agents', lazy(async () => ({ default: (await import('./agents/agents-page.js')).AgentsPage }))],
  ['/agents/:agent/compare', lazy(async () => ({ default: (await import('./debug/compare-page.js')).ComparePage }))],
  [
    '/agents/:agent/versions',
    lazy(async () => ({ default: (await import('./versions/versions-page.js')).VersionsPage })),
  ],
  ['/agents/:agent/*?', lazy(async () => ({ default: (await import('./run/run-page.js')).RunPage }))],
  ['/runs', lazy(async () => ({ default: (await import('./runs/runs-page.js')).RunsPage }))],
  ['/inbox', lazy(async () => ({ default: (await import('./inbox/inbox-page.js')).InboxPage }))],
  ['/chat/:kind?/:id?', lazy(async () => ({ default: (await import('./stages/stages-page.js')).StagesPage }))],
  ['/datasets', lazy(async () => ({ default: (await import('./datasets/datasets-page.js')).DatasetsPage }))],
  [
    '/datasets/:dataset/documents/:document',
    lazy(async () => ({ default: (await import('./datasets/document-page.js')).DocumentPage })),
  ],
  [
    '/datasets/:dataset/:tab?',
    lazy(async () => ({ default: (await import('./datasets/dataset-page.js')).DatasetPage })),
  ],
  ['/evaluations', lazy(async () => ({ default: (await import('./evaluation/evaluation-page.js')).EvaluationPage }))],
  ['/settings', lazy(async () => ({ default: (await import('./settings/settings-page.js')).SettingsPage }))],
];

export function App() {
  return (
    <Failures>
      <Router hook={useHashPath} searchHook={useHashQuery}>
        <Frame>
          <Suspense fallback={<LoadingNote />}>
            <Switch>
              <Route path="/">
                <Redirect to="/agents" replace />
              </Route>
              {SCREENS.map(([path, screen]) => (
                <Route key={path} path={path} component={screen} />
              ))}
              <Route>
                <Nowhere />
              </Route>
            </Switch>
          </Suspense>
        </Frame>
      </Router>
      <Login />
    </Failures>
  );
}

function Nowhere() {
  return <EmptyNote title={useTexts(texts).nowhere} />;
}
