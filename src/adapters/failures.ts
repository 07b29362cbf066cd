/** Errors of calls to the outside, and quoting responses without secrets. */
import { EngineError } from '../errors.js';

/** The error of a call that failed upstream; the message holds no secrets and is shown to models and readers. */
export function toolFailed(
  message: string,
  more: { readonly retryable?: boolean; readonly cause?: unknown } = {},
): EngineError {
  return new EngineError('TOOL_FAILED', message, more);
}

// Responses of servers, as errors quote them.

/** Characters of a response that an error quotes, and the fewest characters of a secret. */
const MAX_QUOTE = 300;
const MIN_SECRET = 4;

/** Query parameters of a URL that hold credentials. */
const CREDENTIALS = /([?&](?:key|api_?key|token|access_token|auth)=)[^&\s"'<>]+/gi;

/**
 * The text of a service as errors quote it: one line of at most `most` characters (default 300), without control characters,
 * `secrets` and keys in URLs. Secrets go before anything is cut, for the beginning of one would not be known as one.
 */
export function quoteResponse(text: string, secrets: readonly string[] = [], most = MAX_QUOTE): string {
  return withoutSecrets(text, secrets)
    .slice(0, 16 * most)
    .replace(CREDENTIALS, '$1REDACTED')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, most)
    .replace(/[\uD800-\uDBFF]$/, '');
}

/** A text without secrets, as they are and as URLs hold them; what is too short to be one stays. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, new URLSearchParams([['', secret]]).toString().slice(1)])
    .filter((secret) => secret.length >= MIN_SECRET)
    .reduce((left, secret) => left.replaceAll(secret, '[REDACTED]'), text);
}
