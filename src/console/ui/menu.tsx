import type { ComponentChildren } from 'preact';

interface MenuProps {
  readonly label: string;
  /** What a screen reader says instead of the label. */
  readonly name?: string;
  readonly children: ComponentChildren;
}

/** A button that opens a small panel. A choice, Escape, or a click or focus elsewhere, closes it. */
export function Menu({ label, name, children }: MenuProps) {
  return (
    <details
      class="menu-box"
      onClick={(event) => {
        if (event.target instanceof Element && event.target.closest('.choice') !== null) event.currentTarget.open = false;
      }}
      onKeyDown={(event) => {
        const box = event.currentTarget;
        if (event.key !== 'Escape' || !box.open) return;
        event.stopPropagation();
        box.open = false;
        box.querySelector('summary')?.focus();
      }}
      onFocusOut={(event) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node) || !event.currentTarget.contains(to)) event.currentTarget.open = false;
      }}
    >
      <summary class="button" {...(name === undefined ? {} : { 'aria-label': name })}>
        {label}
      </summary>
      {/* It takes the focus of a click on what has none, so that such a click does not close it. */}
      <div tabIndex={-1}>{children}</div>
    </details>
  );
}

interface ChoiceProps {
  readonly onChoose: () => void;
  readonly children: ComponentChildren;
}

/** A button of a menu, which closes it. */
export function Choice({ onChoose, children }: ChoiceProps) {
  return (
    <button type="button" class="choice" onClick={onChoose}>
      {children}
    </button>
  );
}
