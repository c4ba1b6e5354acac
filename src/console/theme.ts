import { effect, signal } from '@preact/signals';

/** `system` follows the setting of the operating system. */
export type Theme = 'system' | 'light' | 'dark';

const KEPT = 'parley.theme';
const kept = localStorage.getItem(KEPT);
/** The chosen theme, kept in this browser. */
export const theme = signal<Theme>(kept === 'light' || kept === 'dark' ? kept : 'system');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem(KEPT, theme.value);
});

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'dark', dark: 'light', light: 'system' };

/** Switches to the next theme. */
export function toggleTheme(): void {
  theme.value = NEXT[theme.value];
}
