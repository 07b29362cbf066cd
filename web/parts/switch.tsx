/** Something that is on or off. */
import style from './switch.module.css';

export interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly isBusy?: boolean;
  readonly onTurn: (isOn: boolean) => void;
}

export function Switch({ label, isOn, isBusy = false, onTurn }: SwitchProps) {
  return (
    <input
      type="checkbox"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      title={label}
      className={style.switch}
      checked={isOn}
      disabled={isBusy}
      onChange={({ target }) => onTurn(target.checked)}
    />
  );
}
