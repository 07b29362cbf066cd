/** The frame with the screen that the address shows. */
import { type ComponentType, Suspense } from 'react';
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

export interface AppProps {
  /** Each address with its screen. */
  readonly screens: readonly (readonly [path: string, screen: ComponentType])[];
}

export function App({ screens }: AppProps) {
  return (
    <Failures>
      <Router hook={useHashPath} searchHook={useHashQuery}>
        <Frame>
          <Suspense fallback={<LoadingNote />}>
            <Switch>
              <Route path="/">
                <Redirect to="/agents" replace />
              </Route>
              {screens.map(([path, screen]) => (
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
