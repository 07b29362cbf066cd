/** The part of the document model that pages are read through; its library's own types need those of a browser. */

export interface PageNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly parentNode: PageNode | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
}

export interface PageElement extends PageNode {
  readonly attributes: Iterable<{ readonly name: string }>;
  readonly childNodes: Iterable<PageNode>;
  innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selectors: string): PageElement | null;
  querySelectorAll(selectors: string): Iterable<PageElement>;
  closest(selectors: string): PageElement | null;
  append(node: PageNode): void;
  remove(): void;
}

export interface PageDocument {
  readonly documentElement: PageElement | null;
  createElement(name: string): PageElement;
  querySelector(selectors: string): PageElement | null;
  querySelectorAll(selectors: string): Iterable<PageElement>;
}

const ELEMENT = 1;
const TEXT = 3;
const COMMENT = 8;

/** Elements that are part of a line; any other begins and ends one. */
const INLINE = new Set(
  'A ABBR ACRONYM B BDI BDO BIG CITE CODE DATA DEL DFN EM FONT I INS KBD LABEL MARK Q RUBY S SAMP SMALL SPAN STRONG SUB SUP TIME TT U VAR WBR'.split(
    ' ',
  ),
);

/** The text below a node, a line for each block, without empty lines. Linear in its size, without recursion. */
export function linesOf(root: PageNode): string {
  let text = '';
  const edge = (node: PageNode): void => {
    if (isBlock(node)) text += '\n';
  };
  walk(
    root,
    (node) => {
      if (node.nodeType === TEXT) text += (node.textContent ?? '').replace(/\s+/g, ' ');
      else edge(node);
    },
    edge,
  );
  const lines = text.split('\n').map((line) => line.replace(/ +/g, ' ').trim());
  return lines.filter((line) => line !== '').join('\n');
}

/** Whether elements are nested deeper than `most`. */
export function isDeeperThan(root: PageNode, most: number): boolean {
  let depth = 0;
  let deepest = 0;
  const begin = ({ firstChild }: PageNode): void => {
    if (firstChild === null) return;
    depth += 1;
    deepest = Math.max(deepest, depth);
  };
  walk(root, begin, () => {
    depth -= 1;
  });
  return deepest > most;
}

/** Removes the comments below a node. */
export function removeComments(root: PageNode): void {
  const comments: PageNode[] = [];
  walk(root, (node) => {
    if (node.nodeType === COMMENT) comments.push(node);
  });
  for (const comment of comments) (comment as PageElement).remove();
}

/** Visits a node and all below it in order, each when it begins and, where it has children, when it ends. */
function walk(root: PageNode, begin: (node: PageNode) => void, end: (node: PageNode) => void = () => {}): void {
  for (let node: PageNode | null = root; node !== null; ) {
    begin(node);
    if (node.firstChild !== null) {
      node = node.firstChild;
      continue;
    }
    while (node !== null && node !== root && node.nextSibling === null) {
      node = node.parentNode;
      if (node !== null) end(node);
    }
    node = node === null || node === root ? null : node.nextSibling;
  }
}

function isBlock({ nodeType, nodeName }: PageNode): boolean {
  return nodeType === ELEMENT && !INLINE.has(nodeName);
}
