import { validateHeaderName } from 'node:http';
import type { JsonObject } from '../../json.js';
import type { RemoteServer } from './mcp-settings.js';

/** Belong to the protocol and not to whoever calls. */
const OWN = /^(?:accept|content-type|content-length|last-event-id|mcp-.*)$/;

/**
 * The headers of every request to a server: the operator's, `${name}` replaced from `variables`; what is blank then, or a bare
 * `Bearer`, is left out. Those of the run come over them; what cannot be a header, or is the protocol's own, is left out.
 */
export function serverHeaders(server: RemoteServer, ofRun: JsonObject): Readonly<Record<string, string>> {
  const { headers: declared, variables, authorization_token: token = '' } = server;
  const headers = new Map<string, string>();
  if (token.trim() !== '') headers.set('authorization', /^bearer\s/i.test(token) ? token : `Bearer ${token.trim()}`);
  for (const [name, value] of Object.entries(declared)) put(headers, name, substitute(value, variables));
  for (const [name, value] of Object.entries(ofRun)) {
    if (typeof value === 'string' || typeof value === 'number') put(headers, name, String(value));
  }
  return Object.fromEntries(headers);
}

function put(headers: Map<string, string>, name: string, given: string): void {
  const key = name.trim().toLowerCase();
  const value = given.trim();
  if (value === '' || /^bearer$/i.test(value) || OWN.test(key) || !isHeader(key, value)) return;
  headers.set(key, value);
}

/** A name that is not declared stays as it is written. */
function substitute(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([^{}]+)\}/g, (written, name: string) => {
    const key = name.trim();
    return Object.hasOwn(variables, key) ? (variables[key] as string) : written;
  });
}

/** Visible ASCII and blanks: what every server reads the same way. */
function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    return /^[\t\x20-\x7e]*$/.test(value);
  } catch {
    return false;
  }
}
