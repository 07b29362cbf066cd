/** What went wrong, in a line. */
import style from './failure-line.module.css';

export function FailureLine({ error }: { readonly error: unknown }) {
  return (
    <p role="alert" className={style.failure}>
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}
