/** The name of an entity beside the colour of its kind; a button where it can be chosen. */
import { colourOf, shortName } from './entity-kinds.js';
import style from './graph.module.css';

interface EntityNameProps {
  readonly name: string;
  /** Empty: without a colour. */
  readonly type: string;
  readonly onChoose?: () => void;
}

/** Letters of a name that a line shows; the tip has more. */
const MOST = 80;
const MOST_OF_TIP = 1_000;

export function EntityName({ name, type, onChoose }: EntityNameProps) {
  const text = <bdi>{shortName(name, MOST)}</bdi>;
  const tip = name.length > MOST ? shortName(name, MOST_OF_TIP) : undefined;
  return (
    <span className={style.entity}>
      {type !== '' && <Swatch type={type} />}
      {onChoose === undefined ? (
        <span title={tip}>{text}</span>
      ) : (
        <button type="button" className={style.link} title={tip} onClick={onChoose}>
          {text}
        </button>
      )}
    </span>
  );
}

/** The colour of a kind. */
export function Swatch({ type }: { readonly type: string }) {
  return <span aria-hidden="true" className={`${style.swatch} ${style[colourOf(type)]}`} />;
}
