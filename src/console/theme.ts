import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEPT = 'parley.theme';
const kept = localStorage.getItem(KEPT);
export const theme = signal<Theme>(kept === 'light' || kept === 'dark' ? kept : 'system');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem(KEPT, theme.value);
});

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'dark', dark: 'light', light: 'system' };

export function toggleTheme(): void {
  theme.value = NEXT[theme.value];
}
