/** What a list of templates says about one. */
export interface TemplateText {
  readonly title: string;
  readonly description: string;
  /** Where it stands in the list. */
  readonly kind: string;
}

/** Texts by the folder of the example. */
export const TEMPLATE_TEXTS: ReadonlyMap<string, TemplateText> = new Map([
  ['hello', { title: 'Hello', description: 'The smallest canvas: it says back what it hears.', kind: 'Basics' }],
  ['chat', { title: 'Chat', description: 'A model answers, and remembers what was said before.', kind: 'Basics' }],
  [
    'agent',
    { title: 'Agent', description: 'A model asks another agent and runs a script before it answers.', kind: 'Basics' },
  ],
  [
    'branch',
    {
      title: 'Branch',
      description: 'A Switch looks at the question and sends it one of several ways.',
      kind: 'Basics',
    },
  ],
  [
    'triage',
    {
      title: 'Triage',
      description: 'A model sorts messages into categories, each with an answer of its own.',
      kind: 'Customer support',
    },
  ],
  ['form', { title: 'Form', description: 'The run waits until somebody fills in a form.', kind: 'Interactive' }],
  [
    'approval',
    { title: 'Approval', description: 'A model drafts, a person approves or asks for a change.', kind: 'Interactive' },
  ],
  ['iteration', { title: 'Iteration', description: 'The same steps for every item of a list.', kind: 'Flow' }],
  ['loop', { title: 'Loop', description: 'Steps that repeat until the result is good enough.', kind: 'Flow' }],
  [
    'parallel',
    {
      title: 'Parallel',
      description: 'Several models work side by side, and one puts their answers together.',
      kind: 'Flow',
    },
  ],
]);
