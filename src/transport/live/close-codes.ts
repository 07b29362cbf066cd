/** Why a live connection is closed. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  internal: 1011,
  restart: 1012,
  badFrame: 4400,
  unauthenticated: 4401,
  noAgent: 4404,
  authTimeout: 4408,
  tooSlow: 4429,
} as const;
