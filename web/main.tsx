/** Makes what the page owns, and draws it. */
import './without-evaluation.js';
import './tokens.css';
import './base.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { addressPath } from './address.js';
import { Client } from './api/client.js';
import { Keys } from './api/key.js';
import { PageFiles } from './api/page-files.js';
import { openRunNews } from './api/run-list-link.js';
import { App } from './app.js';
import { laterPart } from './parts/later-part.js';
import type { Screen } from './screens.js';
import { browserChoices, Preferences } from './shell/preferences.js';
import { Shortcuts } from './shell/shortcuts.js';
import { type Studio, StudioProvider } from './shell/studio.js';

/** Draws the page once; `screen` is the one that its address names. */
export function drawPage(screens: readonly Screen[], screen: Screen | undefined): void {
  const preferences = new Preferences(localStorage, browserChoices());
  const keys = new Keys({ tab: sessionStorage, device: localStorage });
  const client = new Client(keys, document.baseURI);
  const studio: Studio = {
    preferences,
    client,
    files: new PageFiles(document),
    shortcuts: new Shortcuts(),
    runNews$: openRunNews(client),
  };

  preferences.choices$.subscribe(({ language, theme }) => {
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = theme;
  });

  // What the server refuses it refuses again; what did not reach it is tried once more.
  const queries = new QueryClient({
    defaultOptions: {
      queries: { staleTime: 2_000, retry: (count, error) => count < 1 && (error as { status?: number }).status === 0 },
    },
  });

  for (const question of screen?.asks?.(addressPath()) ?? []) client.askEarly(question);
  // Of another screen nothing was asked.
  addEventListener('popstate', () => client.forgetEarly(), { once: true });

  const loaded = screens.map(({ path, load }) => [path, laterPart(load)] as const);
  createRoot(document.getElementById('page')!).render(
    <QueryClientProvider client={queries}>
      <StudioProvider studio={studio}>
        <App screens={loaded} />
      </StudioProvider>
    </QueryClientProvider>,
  );
}
