/** Workers of this page: modules of our own, under the one name that its policy allows to make addresses of scripts. */

/** The part of trusted types that is used; browsers without them lack it. */
interface ScriptPolicies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const { trustedTypes } = globalThis as { readonly trustedTypes?: ScriptPolicies };

const policy = trustedTypes?.createPolicy('studio-worker', { createScriptURL: requireOwn });

/** Starts a worker of this page. @throws TypeError for an address elsewhere. */
export function createWorker(url: string): Worker {
  const own = new URL(url, import.meta.url).href;
  return new Worker(policy?.createScriptURL(own) ?? requireOwn(own), { type: 'module' });
}

function requireOwn(url: string): string {
  if (new URL(url).origin === location.origin) return url;
  throw new TypeError(`The script of a worker comes from this page's own server; received ${url}.`);
}
