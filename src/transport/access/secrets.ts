import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are the same; takes the same time whatever they have in common. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** A short name for a secret that says nothing about it, for counters and logs. */
export function nameOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 22);
}
