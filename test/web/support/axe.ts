/** What axe finds on a page that keeps people out. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical findings: rule, and the elements that it is about. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // As the debugger does it, which the policy of the page does not forbid.
  await page.evaluate(SOURCE);
  const { violations } = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: readonly {
      id: string;
      impact: string;
      nodes: readonly { target: unknown; failureSummary: string }[];
    }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 5).map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary}`),
    );
}
