/** Buttons, with or without words. */
import type { ButtonHTMLAttributes } from 'react';
import style from './button.module.css';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `main` for the one action that a screen is for. */
  readonly look?: 'main' | 'plain' | 'quiet' | 'danger';
}

export function Button({ look = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button {...rest} type={type} className={`${style.button} ${style[look]} ${className}`} />;
}

/** A button that is a picture; `label` is its name and its tip. */
export function IconButton({ label, className = '', ...rest }: ButtonProps & { readonly label: string }) {
  return <Button look="quiet" {...rest} aria-label={label} title={label} className={`${style.icon} ${className}`} />;
}
