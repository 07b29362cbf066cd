/** The views of a run beside its canvas; the address names one. */
export const TABS = ['run', 'trace', 'state'] as const;
export type Tab = (typeof TABS)[number];

/** The view that a query names; the conversation for none. */
export function readTab(query: URLSearchParams): Tab {
  return TABS.find((one) => one === query.get('tab')) ?? 'run';
}
