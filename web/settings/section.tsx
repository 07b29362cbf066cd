/** What the sections of the settings are made of. */
import type { ReactNode } from 'react';
import style from './settings.module.css';

/** A part of the page under a title. */
export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={style.section} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Names with what they stand for. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={style.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
