/** Where an edge enters or leaves. The library finds it by these names; its own handles listen to every movement, these do not. */

interface PortProps {
  readonly id: string;
  readonly kind: 'source' | 'target';
  readonly className: string | undefined;
}

export function Port({ id, kind, className = '' }: PortProps) {
  const side = kind === 'source' ? 'right' : 'left';
  return <span className={`${kind} ${className}`} data-handleid={id} data-handlepos={side} />;
}
