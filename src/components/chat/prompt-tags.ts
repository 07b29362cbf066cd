/** Parts of a system prompt that are meant for prompts of our own, such as `<CITATION_GUIDELINES>…</CITATION_GUIDELINES>`. */
export type PromptTag =
  | 'task_analysis'
  | 'plan_generation'
  | 'reflection'
  | 'context_summary'
  | 'context_ranking'
  | 'citation_guidelines';

/** A system prompt whose tagged parts were cut out. */
export interface TaggedPrompt {
  readonly text: string;
  /** What stood between the tags, trimmed; the first of each counts. */
  readonly parts: Readonly<Partial<Record<PromptTag, string>>>;
}

const MARK = /<(\/?)(TASK_ANALYSIS|PLAN_GENERATION|REFLECTION|CONTEXT_SUMMARY|CONTEXT_RANKING|CITATION_GUIDELINES)>/gi;

/** Cuts the tagged parts out of a system prompt. A tag that is not closed stays where it is. */
export function cutPromptTags(prompt: string): TaggedPrompt {
  const parts: Partial<Record<PromptTag, string>> = {};
  let text = '';
  let from = 0;
  let open: { readonly tag: PromptTag; readonly start: number; readonly end: number } | undefined;
  for (const mark of prompt.matchAll(MARK)) {
    const tag = (mark[2] as string).toLowerCase() as PromptTag;
    const end = mark.index + mark[0].length;
    if (mark[1] === '') {
      // An opening mark inside another part is text of that part.
      open ??= { tag, start: mark.index, end };
    } else if (open?.tag === tag) {
      parts[tag] ??= prompt.slice(open.end, mark.index).trim();
      text += prompt.slice(from, open.start);
      from = end;
      open = undefined;
    }
  }
  return { text: text + prompt.slice(from), parts };
}
