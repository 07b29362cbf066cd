/** Texts that editors offer to authors of agents, by the names under which prompts refer to them. */
export const PROMPTS = {
  task_analysis: `Read the task and what you know about it before you do anything.
Write down, briefly: what is asked for and in which form; what is given; what is missing and where it may be found; what would make
the answer wrong. When the task is simple, say so in one line and answer at once.`,
  plan_generation: `Plan the next steps, not all of them. For each step name one tool that you have, its exact arguments, and what you
expect to learn. Steps that do not need each other's results may be taken together. When you know enough, plan no more tools and answer.`,
  reflection: `Look at what the tools gave. For each result say whether it answers its question, whether it can be trusted, and what
follows. Change the plan when a result contradicts it. Do not repeat a call that failed with the same arguments.`,
  citation_guidelines: `Behind each sentence that rests on a source you were given, name the source as [ID:n], where n is its ID. Several sources
stand side by side, at most four. Never name an ID that you were not given, and cite nothing for what you know yourself.`,
} as const;
