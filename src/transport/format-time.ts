/** A time as RAGFlow writes it, in UTC: `2026-11-21T09:30:00`. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
