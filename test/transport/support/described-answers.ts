/** Holds what a server answers against what it says of itself in its OpenAPI document. */
import { z } from 'zod';

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents freely
type Loose = any;

/** Looks at answers, and remembers what the description says otherwise or does not say. */
export interface DescribedAnswers {
  readonly problems: ReadonlySet<string>;
  look(method: string, path: string, response: Response): Promise<void>;
}

export function createDescribedAnswers(description: Loose): DescribedAnswers {
  const problems = new Set<string>();
  const routes = Object.entries<Loose>(description.paths)
    .map(([path, operations]) => ({ path, pattern: patternOf(path), operations }))
    // A fixed name in a path goes before a parameter.
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length);
  return {
    problems,
    async look(method, path, response) {
      const route = routes.find(({ pattern, operations }) => pattern.test(path) && method.toLowerCase() in operations);
      if (route === undefined || response.status !== 200) return;
      const name = `${method} ${route.path}`;
      const contents = route.operations[method.toLowerCase()].responses['200'].content;
      const type = (response.headers.get('content-type') ?? '').split(';')[0] as string;
      const schema = contents[type]?.schema;
      if (schema === undefined && contents['*/*'] === undefined) problems.add(`${name} answers with ${type}`);
      if (schema === undefined || type !== 'application/json') return;
      const body: Loose = await response.clone().json();
      // Refusals are all alike.
      if (typeof body.code === 'number' && body.code !== 0) return;
      const parsed = z.fromJSONSchema(schema).safeParse(body);
      for (const { path: at, message } of parsed.error?.issues ?? [])
        problems.add(`${name} ${at.join('.')}: ${message}`);
      for (const field of undescribed(schema, body)) problems.add(`${name} does not describe ${field}`);
    },
  };
}

/** Paths of fields that a schema with named fields does not name. */
function undescribed(schema: Loose, value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const choices: Loose[] | undefined = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    return choices.map((choice) => undescribed(choice, value, at)).toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => undescribed(schema.items ?? {}, item, `${at}[]`));
  const fields = schema.properties ?? {};
  if (Object.keys(fields).length === 0) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    name in fields ? undescribed(fields[name], field, `${at}.${name}`) : [`${at}.${name}`],
  );
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`);
}
