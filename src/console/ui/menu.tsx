import type { ComponentChildren } from 'preact';

interface MenuProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

/** A button that opens a small panel. Escape, or a click or focus elsewhere, closes it. */
export function Menu({ label, children }: MenuProps) {
  return (
    <details
      class="menu-box"
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
      <summary class="button">{label}</summary>
      {/* It takes the focus of a click on what has none, so that such a click does not close it. */}
      <div tabIndex={-1}>{children}</div>
    </details>
  );
}
