/** A link that a document or a model wrote. */
import type { ReactNode } from 'react';
import style from './markdown.module.css';
import { safeLink, shownHost } from './safe-link.js';

/** Shows where it leads; what leads nowhere safe is text with its address. */
export function ExternalLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const url = safeLink(href);
  if (url === undefined) {
    return (
      <span>
        {children} <span className={style.host}>({href})</span>
      </span>
    );
  }
  return (
    <span>
      <a href={url.href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>{' '}
      <span className={style.host}>({shownHost(url)})</span>
    </span>
  );
}
