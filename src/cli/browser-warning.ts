/** A warning for operators whose browsers run without Chromium's sandbox. */
import { canSandbox, findChromium } from '../adapters/browser/chromium-process.js';
import type { Log } from '../logger.js';
import type { ApiKey } from '../settings/access.js';

/** What decides about the warning. */
export interface BrowserWarningOptions {
  readonly apiKeys: readonly ApiKey[];
  /** Path of Chromium. @default the first in the usual places */
  readonly chromium: string | undefined;
  /** Whether Chromium's sandbox works here. @default looks */
  readonly isSandboxed?: boolean;
}

/**
 * Warns once where Browser nodes of several tenants would run without Chromium's sandbox: there a page that takes over Chromium is
 * the user of the server, who reads the data of all tenants.
 */
export async function warnOfBrowsers(
  { apiKeys, chromium, isSandboxed = canSandbox() }: BrowserWarningOptions,
  log: Log,
): Promise<void> {
  const tenants = new Set(apiKeys.map(({ tenant }) => tenant));
  if (isSandboxed || tenants.size < 2) return;
  const path = await findChromium(chromium).catch(() => undefined);
  if (path === undefined) return;
  log.warn(
    { tenants: tenants.size, chromium: path },
    "Browser nodes run without Chromium's sandbox, because this process is root or in a container, and there are several tenants: " +
      'run the server as a user of its own outside of one, or a server per tenant (docs/security.md)',
  );
}
