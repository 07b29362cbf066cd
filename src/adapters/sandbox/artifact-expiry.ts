/** How long files that scripts made are kept. */
import { EngineError } from '../../errors.js';

/** The variable that says how many days files of scripts are kept. */
export const ARTIFACT_DAYS = 'SANDBOX_ARTIFACT_EXPIRE_DAYS';
const DAY_MS = 86_400_000;

/**
 * Milliseconds that files of scripts are kept, from the text of {@link ARTIFACT_DAYS}: days, by default 7; undefined, for ever, for 0.
 *
 * @throws EngineError CONFIG_INVALID.
 */
export function artifactsKeptMs(text: string | undefined): number | undefined {
  const days = text?.trim() || '7';
  if (!/^\d{1,6}$/.test(days)) {
    throw new EngineError(
      'CONFIG_INVALID',
      `${ARTIFACT_DAYS} must be a whole number of days, 0 for ever; received ${JSON.stringify(text)}.`,
    );
  }
  return Number(days) === 0 ? undefined : Number(days) * DAY_MS;
}
