import type { Json } from '../../../json.js';

const MARKER = '__RAGFLOW_RESULT__:';

/**
 * Takes the structured result out of stdout, where executors put it as a marked line: `{"present": true, "value": …}` in Base64.
 *
 * The last valid line wins; marked lines that cannot be read stay in the text.
 */
export function takeMarkedResult(stdout: string): { stdout: string; result?: { value: Json } } {
  if (!stdout.includes(MARKER)) return { stdout };
  const lines: string[] = [];
  let result: { value: Json } | undefined;
  for (const line of stdout.split('\n')) {
    const found = line.startsWith(MARKER) ? decode(line.slice(MARKER.length).trim()) : undefined;
    if (found === undefined) lines.push(line);
    else result = found;
  }
  return { stdout: lines.join('\n'), ...(result === undefined ? {} : { result }) };
}

function decode(payload: string): { value: Json } | undefined {
  try {
    const { present, value } = JSON.parse(Buffer.from(payload, 'base64').toString('utf8'));
    return present === true ? { value: value ?? null } : undefined;
  } catch {
    return undefined;
  }
}
