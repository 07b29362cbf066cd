import type { DocumentIssue } from '../../dsl/document.js';
import { EngineError } from '../../errors.js';

/** @throws EngineError DOCUMENT_INVALID with all issues when one of them is an error. */
export function requireSound(issues: readonly DocumentIssue[]): void {
  const errors = issues.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const lines = errors.map(({ path, message }) => `${path}: ${message}`).join('\n');
  throw new EngineError('DOCUMENT_INVALID', `The document cannot be published:\n${lines}`, { details: { issues } });
}
