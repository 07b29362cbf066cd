/** The number of an event as a client gives it; undefined when it is none. */
export function eventNumber(given: string): number | undefined {
  const seq = Number(given);
  return /^\d+$/.test(given) && Number.isSafeInteger(seq) ? seq : undefined;
}
