/** Where edges leave and enter a node. In an editor edges are drawn from there. */
import { Handle, type HandleType, Position } from '@xyflow/react';
import style from './port.module.css';
import { useSurroundings } from './surroundings.js';

interface PortProps {
  readonly id: string;
  readonly kind: HandleType;
  readonly className: string | undefined;
}

export function Port({ id, kind, className = '' }: PortProps) {
  const { onPort } = useSurroundings();
  const side = kind === 'source' ? Position.Right : Position.Left;
  if (onPort === undefined) {
    return <span className={`${kind} ${className}`} data-handleid={id} data-handlepos={side} />;
  }
  return (
    <span className={`${className} ${style.port}`}>
      <Handle
        id={id}
        type={kind}
        position={side}
        className={style.handle}
        onClick={kind === 'source' ? (event) => onPort(event, id) : undefined}
      />
    </span>
  );
}
