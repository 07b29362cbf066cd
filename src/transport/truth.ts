/** A flag as clients send it: true, "true", "1", 1; everything else is false, also the text "false". */
export function isTruthy(value: unknown): boolean {
  if (typeof value === 'string') return /^(?:true|1|yes)$/i.test(value.trim());
  return value === true || value === 1;
}
