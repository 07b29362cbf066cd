/** The other names of an entity: those that texts give it, and those that were added by hand. */
import { useQueryClient } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { Button, IconButton } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { EntityName } from './entity-name.js';
import style from './graph.module.css';
import { refreshGraph } from './graph-data.js';
import { graphTexts } from './graph-texts.js';
import { addAlias, otherNames, removeAlias, useAliases, useNameLists } from './merge-data.js';

interface EntityNamesProps {
  readonly dataset: string;
  readonly name: string;
}

/** Names that are listed. */
const MAX_NAMES = 50;
/** As the server has it. */
const MAX_ALIAS = 120;

export function EntityNames({ dataset, name }: EntityNamesProps) {
  const words = useTexts(graphTexts);
  const field = useId();
  const client = useClient();
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const lists = useNameLists(dataset).data;
  const aliases = (useAliases(dataset).data ?? []).filter(({ entity }) => entity === name);
  const added = new Set(aliases.map(({ alias }) => alias));
  const others = otherNames(name, lists?.merges.map(({ names }) => names) ?? []).filter((one) => !added.has(one));
  const change = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
      setError(undefined);
      await refreshGraph(queries, dataset);
    } catch (failure) {
      setError(failure);
    }
  };
  const add = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const alias = String(new FormData(form).get('alias') ?? '').trim();
    if (alias !== '') void change(addAlias(client, dataset, name, alias).then(() => form.reset()));
  };
  return (
    <>
      {others.length + aliases.length > 0 && (
        <>
          <h3>{words.alsoCalled}</h3>
          <ul className={style.items} aria-label={words.alsoCalled}>
            {aliases.slice(0, MAX_NAMES).map(({ id, alias }) => (
              <li key={id} className={style.line}>
                <EntityName name={alias} type="" />
                <IconButton
                  label={words.removeAlias(alias)}
                  onClick={() => void change(removeAlias(client, dataset, id))}
                >
                  <X size={14} aria-hidden="true" />
                </IconButton>
              </li>
            ))}
            {others.slice(0, MAX_NAMES).map((other) => (
              <li key={other}>
                <EntityName name={other} type="" />
              </li>
            ))}
          </ul>
        </>
      )}
      <form className={style.form} onSubmit={add}>
        <label htmlFor={field}>{words.aliasName}</label>
        <input id={field} name="alias" className={`${style.field} ${style.wide}`} maxLength={MAX_ALIAS} required />
        <Button type="submit">{words.addAlias}</Button>
      </form>
      {error !== undefined && <FailureLine error={error} />}
    </>
  );
}
