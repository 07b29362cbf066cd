/** The studio's beginning: makes what the page owns, and draws it. */
import './without-evaluation.js';
import './tokens.css';
import './base.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Client } from './api/client.js';
import { Keys } from './api/key.js';
import { App } from './app.js';
import { browserChoices, Preferences } from './shell/preferences.js';
import { Shortcuts } from './shell/shortcuts.js';
import { type Studio, StudioProvider } from './shell/studio.js';

const preferences = new Preferences(localStorage, browserChoices());
const keys = new Keys({ tab: sessionStorage, device: localStorage });
const studio: Studio = { preferences, client: new Client(keys, document.baseURI), shortcuts: new Shortcuts() };

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

createRoot(document.getElementById('page')!).render(
  <QueryClientProvider client={queries}>
    <StudioProvider studio={studio}>
      <App />
    </StudioProvider>
  </QueryClientProvider>,
);
