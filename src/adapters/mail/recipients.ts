/** Addresses and headers of a mail, as models and documents write them. Nothing here can start a header of its own. */
import { toolFailed } from '../failures.js';

const MAX_RECIPIENTS = 100;
const MAX_ADDRESS = 254;
const MAX_HEADER = 500;

/** One `@`, a domain, and no character that means something in a header or to a server. */
const ADDRESS = /^[^\s"(),:;<>@[\\\]]{1,64}@[^\s"(),:;<>@[\\\]]{1,190}$/;

/**
 * The addresses of a text: split at commas, semicolons and line ends, each alone or as `Name <address>`, each once.
 *
 * @throws EngineError TOOL_FAILED for one that is no address, or too many.
 */
export function addressesIn(text: string): readonly string[] {
  const parts = text.split(/[,;\r\n]/).map((part) => part.trim());
  const addresses = new Set(parts.filter((part) => part !== '').map(addressOf));
  if (addresses.size > MAX_RECIPIENTS) throw toolFailed(`there are more than ${MAX_RECIPIENTS} recipients`);
  return [...addresses];
}

/** One address. @throws EngineError TOOL_FAILED when it is none. */
export function addressOf(text: string): string {
  const open = text.lastIndexOf('<');
  const bare = open >= 0 && text.endsWith('>') ? text.slice(open + 1, -1).trim() : text.trim();
  if (bare.length <= MAX_ADDRESS && ADDRESS.test(bare) && !hasControl(bare)) return bare;
  throw toolFailed(`${JSON.stringify(text.slice(0, 100))} is no mail address`);
}

/** A text that stands in a header: one line, without control characters, of a bounded length. */
export function headerText(text: string): string {
  const line = Array.from(text.slice(0, 2 * MAX_HEADER), (character) => (hasControl(character) ? ' ' : character));
  return line.slice(0, MAX_HEADER).join('').replace(/\s+/g, ' ').trim();
}

function hasControl(text: string): boolean {
  return /\p{Cc}|[\u2028\u2029]/u.test(text);
}
