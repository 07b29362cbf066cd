/** A headless browser that tools and components drive. */
export {
  type ActionOutcome,
  BROWSER_ACTIONS,
  type BrowserAction,
  type BrowserActionName,
  type PageView,
} from './action.js';
export {
  type BrowserSession,
  type Browsers,
  type BrowsersOptions,
  createBrowsers,
  type OpenOptions,
} from './browsers.js';
export type { BrowserFile } from './downloads.js';
export type { UploadFile } from './session.js';
