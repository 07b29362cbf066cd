/** CodeMirror in a shadow root of its own, where it makes its styles as objects: as elements the policy of the page forbids them. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  HighlightStyle,
  indentOnInput,
  indentUnit,
  type LanguageSupport,
  syntaxHighlighting,
} from '@codemirror/language';
import { Annotation, Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export type CodeLanguage = 'json' | 'python' | 'javascript';

export interface CodeViewOptions {
  readonly text: string;
  readonly language: CodeLanguage;
  readonly onChange: (text: string) => void;
  readonly onLeave: () => void;
}

export interface CodeDescription {
  readonly label: string;
  /** How it is left by keyboard. */
  readonly about: string;
  readonly isInvalid: boolean;
  readonly rows: number;
}

export interface CodeView {
  /** Shows another text, unless it is the one that is shown. */
  readonly show: (text: string) => void;
  readonly describe: (description: CodeDescription) => void;
  readonly close: () => void;
}

const shown = Annotation.define<true>();
const LINE_PX = 18;

/** Colours of `tokens.css`, which reach into the shadow: light and dark follow the page. */
const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '12px', maxHeight: '50vh' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-code)', lineHeight: `${LINE_PX}px`, overflow: 'auto' },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 8px' },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.keyword, tags.operatorKeyword], color: 'var(--json-name)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--json-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--json-plain)' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: 'var(--accent)',
  },
  { tag: tags.comment, color: 'var(--text-soft)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--failed)' },
]);

/** Opens an editor in an element, which has no other content. */
export function openCodeView(host: HTMLElement, { text, language, onChange, onLeave }: CodeViewOptions): CodeView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const [words, grammar] = [new Compartment(), new Compartment()];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        indentOnInput(),
        indentUnit.of(language === 'python' ? '    ' : '  '),
        EditorView.lineWrapping,
        syntaxHighlighting(COLOURS),
        THEME,
        words.of([]),
        grammar.of([]),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.domEventHandlers({ blur: onLeave }),
        EditorView.updateListener.of(({ docChanged, transactions, state }) => {
          const isTyped = docChanged && !transactions.some((one) => one.annotation(shown) === true);
          if (isTyped) onChange(state.doc.toString());
        }),
      ],
    }),
  });
  let isClosed = false;
  languageOf(language).then(
    (support) => {
      if (!isClosed) view.dispatch({ effects: grammar.reconfigure(support) });
    },
    (error: unknown) => console.warn(`${language} is shown without colours`, error),
  );
  const end = keepKeys(host);
  return {
    show: (next) => {
      if (next === view.state.doc.toString()) return;
      const changes = { from: 0, to: view.state.doc.length, insert: next };
      view.dispatch({ changes, annotations: shown.of(true) });
    },
    describe: ({ label, about, isInvalid, rows }) => {
      const attributes = { 'aria-label': label, 'aria-description': about, 'aria-invalid': String(isInvalid) };
      const height = EditorView.theme({ '.cm-content': { minHeight: `${rows * LINE_PX}px` } });
      view.dispatch({ effects: words.reconfigure([EditorView.contentAttributes.of(attributes), height]) });
    },
    close: () => {
      isClosed = true;
      end();
      view.destroy();
    },
  };
}

/** Each is loaded when it is needed. */
async function languageOf(language: CodeLanguage): Promise<LanguageSupport> {
  if (language === 'json') return (await import('@codemirror/lang-json')).json();
  if (language === 'python') return (await import('@codemirror/lang-python')).python();
  return (await import('@codemirror/lang-javascript')).javascript();
}

/** What is typed in the field is not meant for the page around it: out there the field cannot be told from any other element. */
function keepKeys(host: HTMLElement): () => void {
  const keep = (event: Event): void => {
    event.stopPropagation();
    // A dialog around it would close.
    if (event instanceof KeyboardEvent && event.key === 'Escape') event.preventDefault();
  };
  const kinds = ['keydown', 'copy', 'cut', 'paste'] as const;
  for (const kind of kinds) host.addEventListener(kind, keep);
  return () => {
    for (const kind of kinds) host.removeEventListener(kind, keep);
  };
}
