import { renderHandlebars } from '../../templates/template.js';
import { oneLine } from './one-line.js';

/** A category as the model hears of it. */
export interface CategoryText {
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
}

const SYSTEM = `You sort messages into categories. Read the conversation and decide which category its last message belongs to.

Categories:
{{#each categories}}
- {{name}}
{{/each}}
{{#if described}}

What they mean:
{{#each described}}
- {{name}}: {{description}}
{{/each}}
{{/if}}
{{#if examples}}

Examples:
{{#each examples}}
- "{{text}}" is {{name}}
{{/each}}
{{/if}}

Rules:
- Answer with the name of one category, spelled as above, and with nothing else.
- When several fit, take the most specific one.
- Take a category for everything else only when no other one fits.`;

const USER = `Conversation:
{{conversation}}

Category of the last message:`;

/** Tells a model which categories there are and how to answer. */
export function categorizeSystem(categories: readonly CategoryText[]): string {
  const examples = categories.flatMap(({ name, examples }) => examples.map((text) => ({ name, text: oneLine(text) })));
  return render(SYSTEM, {
    categories: categories.map(({ name }) => ({ name })),
    described: categories
      .filter(({ description }) => description.trim() !== '')
      .map(({ name, description }) => ({ name, description: oneLine(description) })),
    examples,
  });
}

/** Shows a model the conversation, oldest first; the last entry is the one to sort. */
export function categorizeUser(turns: readonly { readonly role: string; readonly content: string }[]): string {
  const lines = turns.map(({ role, content }) => `${role.toUpperCase()}: "${oneLine(content)}"`);
  return render(USER, { conversation: lines.join('\n') });
}

function render(template: string, values: Parameters<typeof renderHandlebars>[1]): string {
  return renderHandlebars(template, values, { noEscape: true });
}
